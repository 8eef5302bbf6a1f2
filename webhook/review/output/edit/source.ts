import { isMergeKey, type YamlNode, type YamlPair } from '../../yaml/nodes.ts';
import { keyText } from '../../yaml/value.ts';

/** A text that replaces the text between two offsets. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Thrown if the text cannot be edited in place; the document is then written in another way. */
export class CannotEdit extends Error {}

/** The text of a document and its layout. */
export class Source {
  readonly text: string;
  /** The line end. */
  readonly eol: string;
  /** Whether lists in maps are indented more than their key. */
  readonly indentSeq: boolean;
  readonly root: YamlNode;

  /** @param text ends with a newline, so that every line has an end */
  constructor(text: string, root: YamlNode) {
    this.text = text;
    this.root = root;
    this.eol = text.includes('\r\n') ? '\r\n' : '\n';
    this.indentSeq = this.#listsAreIndented(root) ?? true;
  }

  lineStart(offset: number): number {
    return this.text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** The end of the line of an offset, before the line end. */
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

  /** Whether only space is before an offset in its line. */
  isFirstInLine(offset: number): boolean {
    return this.text.slice(this.lineStart(offset), offset).trim() === '';
  }

  /** The beginning of the line after an offset. The end of a block scalar already is one. */
  afterLine(offset: number): number {
    return this.text[offset - 1] === '\n' ? offset : this.nextLine(offset);
  }

  /** The beginning of the comment lines directly above an offset, or of its own line if there are none. */
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
   * The end of the comments below the last value of a map or list that belong to it: those with the same or more
   * indentation. Comments in the same column belong to it only if less indentation follows.
   *
   * @param at the beginning of the line after the last value
   * @param column the column of the map's keys, or of the list's dashes
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

  /** As the first list that is the value of a key is indented. */
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

/** The offset after the last character of a node, without comments. */
export function endOf(node: YamlNode | undefined): number {
  if (node === undefined || isEmpty(node)) throw new CannotEdit('a node has no end');
  return node.end;
}

/** The end of a pair, which is its colon if it has no value. */
export function endOfPair(pair: YamlPair): number {
  return isEmpty(pair.value) ? colonEnd(pair) : endOf(pair.value);
}

/** A value that is not written, as after `key:`. */
export const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.style === 'empty';

/** The offset after the colon of a pair. */
export function colonEnd(pair: YamlPair): number {
  if (pair.colon === undefined) throw new CannotEdit('a pair has no colon');
  return pair.colon;
}

/** The pairs of a map by key, without merges; of equal keys, the last one, which counts. */
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
 * @throws CannotEdit if two edits change the same text
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let at = 0;
  // of several insertions at one offset, the inner one comes first, in the order of their creation
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < at) throw new CannotEdit('two edits are about the same text');
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  return [...pieces, text.slice(at)].join('');
}
