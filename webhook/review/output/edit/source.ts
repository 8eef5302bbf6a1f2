import { isMergeKey, type YamlNode, type YamlPair } from '../../yaml/nodes.ts';
import { keyText } from '../../yaml/value.ts';

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
  readonly root: YamlNode;

  /** @param text ends with a newline, so that every line has an end to write behind */
  constructor(text: string, root: YamlNode) {
    this.text = text;
    this.root = root;
    this.eol = text.includes('\r\n') ? '\r\n' : '\n';
    this.indentSeq = this.#listsAreIndented(root) ?? true;
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

  /** Where the comment lines right above an offset begin, or its own line where there are none. */
  commentsAbove(offset: number, bound: number, deepest = Number.POSITIVE_INFINITY): number {
    let start = this.lineStart(offset);
    while (start > bound) {
      const above = this.lineStart(start - 1);
      const comment = this.#indentOfComment(above);
      if (above < bound || comment === undefined || comment > deepest) break;
      start = above;
    }
    return start;
  }

  /**
   * Where the comments end that stand below the last value of a map or list, and belong to it: those that are
   * indented as it is or more. In its very column they are its own only where it is followed by less indentation.
   *
   * @param at where the line behind the last value begins
   * @param column of the map's keys, or of the list's dashes
   */
  behindComments(at: number, column: number): number {
    const comments: { indent: number; end: number }[] = [];
    let next = -1;
    for (let line = at; line < this.text.length; line = this.nextLine(line)) {
      const blank = this.text.slice(line, this.lineEnd(line)).trim() === '';
      if (blank) continue;
      const indent = this.#indentOfComment(line);
      if (indent === undefined || indent < column) {
        next = indent ?? this.text.slice(line).search(/\S/);
        break;
      }
      comments.push({ indent, end: this.nextLine(line) });
    }
    const foreign = comments.findIndex(({ indent }) => indent === column && next >= column);
    return comments.slice(0, foreign < 0 ? undefined : foreign).at(-1)?.end ?? at;
  }

  /** The column of the comment that a line consists of. */
  #indentOfComment(line: number): number | undefined {
    const indent = /^[ \t]*#/.exec(this.text.slice(line, this.lineEnd(line)))?.[0].length;
    return indent === undefined ? undefined : indent - 1;
  }

  /** As the first list that is the value of a key stands. */
  #listsAreIndented(node: YamlNode): boolean | undefined {
    if (node.kind === 'seq') {
      for (const item of node.items) {
        const found = this.#listsAreIndented(item);
        if (found !== undefined) return found;
      }
    }
    if (node.kind !== 'map') return undefined;
    for (const { key, value } of node.pairs) {
      if (value.kind === 'seq' && !value.flow) return this.column(value.start) > this.column(key.start);
      const found = this.#listsAreIndented(value);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Where the last character of a node is behind, comments left out. */
export function endOf(node: YamlNode | undefined): number {
  if (node === undefined || isEmpty(node)) throw new CannotEdit('a node has no end');
  return node.end;
}

/** Where a pair ends, which is its colon where no value is written. */
export function endOfPair(pair: YamlPair): number {
  return isEmpty(pair.value) ? colonEnd(pair) : endOf(pair.value);
}

/** A value that is not written at all, as behind `key:`. */
export const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.style === 'empty';

/** The offset behind the colon of a pair. */
export function colonEnd(pair: YamlPair): number {
  if (pair.colon === undefined) throw new CannotEdit('a pair has no colon');
  return pair.colon;
}

/** The pairs of a map by key; of equal keys the last, which is the one that counts. Merges are left out. */
export function ownPairs(node: YamlNode): Map<string, YamlPair> {
  const pairs = new Map<string, YamlPair>();
  if (node.kind !== 'map') return pairs;
  for (const pair of node.pairs) {
    if (!isMergeKey(pair.key)) pairs.set(keyText(pair.key), pair);
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
