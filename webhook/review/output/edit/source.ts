import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type ParsedNode,
  visit,
} from 'yaml';

/** A piece of text put in place of what stands between two offsets. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Thrown where the text cannot be edited in place; there are other ways to write the document. */
export class CannotEdit extends Error {}

/** The text of a document and how it is laid out. */
export class Source {
  readonly text: string;
  /** What ends a line. */
  readonly eol: string;
  /** Whether lists in maps stand deeper than their key. */
  readonly indentSeq: boolean;
  readonly document: Document;

  /** @param text ends with a newline, so that every line has an end to write behind */
  constructor(text: string, document: Document) {
    this.text = text;
    this.document = document;
    this.eol = text.includes('\r\n') ? '\r\n' : '\n';
    this.indentSeq = this.#listsAreIndented();
  }

  lineStart(offset: number): number {
    return this.text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** Where the line of an offset ends, in front of its end-of-line. */
  lineEnd(offset: number): number {
    const at = this.text.indexOf('\n', offset);
    if (at < 0) return this.text.length;
    return this.text[at - 1] === '\r' ? at - 1 : at;
  }

  nextLine(offset: number): number {
    const at = this.text.indexOf('\n', offset);
    return at < 0 ? this.text.length : at + 1;
  }

  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  /** Whether nothing but space stands before an offset in its line. */
  isFirstInLine(offset: number): boolean {
    return this.text.slice(this.lineStart(offset), offset).trim() === '';
  }

  /** Where the line after an offset begins. The end of a block scalar is there already. */
  afterLine(offset: number): number {
    return this.text[offset - 1] === '\n' ? offset : this.nextLine(offset);
  }

  #listsAreIndented(): boolean {
    let indented = true;
    visit(this.document, {
      Pair: (_key, { key, value }) => {
        if (!isSeq(value) || value.flow === true || !isNode(key)) return undefined;
        indented = this.column(startOf(value)) > this.column(startOf(key));
        return visit.BREAK;
      },
    });
    return indented;
  }
}

/** Where a node begins, behind its anchor and tag. */
export function startOf(node: unknown): number {
  if (!isNode(node) || !node.range) throw new CannotEdit('a node has no place');
  return node.range[0];
}

/** Where the last character of a node is behind, comments left out. */
export function endOf(node: unknown): number {
  if (isPair(node)) return isEmpty(node.value) ? colonEnd(node) : endOf(node.value);
  if (isCollection(node) && node.flow !== true && node.items.length > 0) return endOf(node.items.at(-1));
  if (!isNode(node) || !node.range || isEmpty(node)) throw new CannotEdit('a node has no end');
  return node.range[1];
}

/** A value that is not written at all, as behind `key:`. */
export function isEmpty(node: unknown): boolean {
  return (
    node === null || node === undefined || (isScalar(node) && node.type === 'PLAIN' && node.source === '')
  );
}

/** The offset behind the colon of a pair. */
export function colonEnd(pair: Pair): number {
  const colon = pair.srcToken?.sep?.find((token) => token.type === 'map-value-ind');
  if (colon === undefined) throw new CannotEdit('a pair has no colon');
  return colon.offset + 1;
}

/** The pairs of a map by key; of equal keys the last, which is the one that counts. Merges are left out. */
export function ownPairs(node: ParsedNode | Node): Map<string, Pair> {
  const pairs = new Map<string, Pair>();
  if (!isMap(node)) return pairs;
  for (const pair of node.items) {
    if (!isScalar(pair.key)) throw new CannotEdit('a key is not a scalar');
    if (pair.key.source !== '<<') pairs.set(String(pair.key.value), pair);
  }
  return pairs;
}

/**
 * The text with edits applied.
 *
 * @throws CannotEdit where two edits are about the same text
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  // of insertions at one place the inner comes first, which is the order they were made in
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < at) throw new CannotEdit('two edits are about the same text');
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return [...pieces, text.slice(at)].join('');
}
