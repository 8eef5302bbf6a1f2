import { isDeepStrictEqual as same } from 'node:util';
import { isMap, isPair, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { writeYaml } from '../../lib/yaml.ts';
import { type Fields, isObject } from '../values.ts';

/** A change of a text: what is from `start` to `end` becomes `text`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * The edits of a YAML text that turn the value of a node into another. Lines of block maps and lists are added and
 * removed; a value in braces or brackets that changes is written in lines, without the comments inside it.
 *
 * @param node a value of `text`
 * @param before its value
 */
export function editsBetween(text: string, node: Node, before: unknown, after: unknown): Edit[] {
  const editor = new Editor(text);
  editor.change(node, before, after, editor.indentOf(node));
  return editor.edits;
}

/** The text with edits, which do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  // of two edits at one place, the one that was made first comes first
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

class Editor {
  readonly edits: Edit[] = [];
  readonly #text: string;
  readonly #lineEnd: string;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  }

  /** The column of a value, or of the lines below its key if it is on the line of the key. */
  indentOf(node: Node): number {
    const line = this.#lineStart(startOf(node));
    const indent = /^[ -]*/.exec(this.#text.slice(line, startOf(node)))?.[0].length ?? 0;
    return line + indent === startOf(node) ? indent : indent + 2;
  }

  /** @param indent the column of the lines that a value needs if it becomes a map or a list */
  change(node: Node, before: unknown, after: unknown, indent: number): void {
    if (same(before, after)) return;
    if (isMap<Node, Node | null>(node) && !node.flow && isObject(before) && isFilled(after)) {
      this.#changeMap(node, before, after);
    } else if (isSeq<Node>(node) && !node.flow && Array.isArray(before) && isFilledList(after)) {
      this.#changeList(node, before, after);
    } else this.#replace(node, after, indent);
  }

  #changeMap(node: YAMLMap<Node, Node | null>, before: Fields, after: Fields): void {
    const column = this.#columnOf(startOf(node));
    const own = new Set<string>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      own.add(name);
      const end = endOf(value ?? key);
      if (!Object.hasOwn(before, name)) continue;
      if (!Object.hasOwn(after, name)) this.#removeLines(startOf(key), end);
      else if (value !== null) this.change(value, before[name], after[name], column + 2);
    }
    // a key of a merge is changed by one of its own
    const added = Object.entries(after).filter(([key, value]) => !own.has(key) && !same(before[key], value));
    const at = this.#belowComments(endOf(node), column);
    if (added.length > 0) this.#insert(at, Object.fromEntries(added), column);
  }

  #changeList(node: YAMLSeq<Node>, before: readonly unknown[], after: readonly unknown[]): void {
    const { items } = node;
    let first = 0;
    while (first < Math.min(before.length, after.length) && same(before[first], after[first])) first += 1;
    let rest = 0;
    const most = Math.min(before.length, after.length) - first;
    while (rest < most && same(before.at(-1 - rest), after.at(-1 - rest))) rest += 1;
    const gone = items.slice(first, items.length - rest);
    const added = after.slice(first, after.length - rest);
    const column = this.#columnOf(startOf(node));
    const [item] = gone;
    const place = items[first];
    const at =
      place === undefined
        ? this.#belowComments(endOf(node), column + 1)
        : this.#aboveComments(this.#dashOf(place));
    if (gone.length === 1 && added.length === 1 && isMap(item) && !item.flow && isObject(added[0])) {
      this.change(item, before[first], added[0], column + 2);
      return;
    }
    if (added.length > 0) this.#insert(at, added, column);
    const last = gone.at(-1);
    if (item !== undefined && last !== undefined) this.#removeLines(this.#dashOf(item), endOf(last));
  }

  #replace(node: Node, after: unknown, indent: number): void {
    const [start, end] = [startOf(node), endOf(node)];
    const isBlock = isFilled(after) || isFilledList(after);
    const isLines = (isMap(node) || isSeq(node)) && !node.flow;
    let from = start;
    while (from > 0 && (isLines ? /\s/ : /[ \t]/).test(this.#text.charAt(from - 1))) from -= 1;
    if (!isBlock) {
      const text =
        typeof after === 'string' && after.includes('\n') ? JSON.stringify(after) : writeYaml(after);
      this.edits.push({ start: from, end, text: ` ${text.trimEnd()}` });
      return;
    }
    // no text stands for null
    if (start < end) this.edits.push({ start: from, end, text: '' });
    this.#insert(this.#nextLine(end), after, indent);
  }

  /** Adds the lines of a map or a list above the line that begins at an offset. */
  #insert(at: number, value: unknown, column: number): void {
    const lines = linesOf(value);
    const text = lines.map((line) => (line === '' ? '' : ' '.repeat(column) + line) + this.#lineEnd).join('');
    this.edits.push({ start: at, end: at, text });
  }

  #removeLines(start: number, end: number): void {
    this.edits.push({ start: this.#lineStart(start), end: this.#nextLine(end), text: '' });
  }

  #lineStart(offset: number): number {
    return this.#text.lastIndexOf('\n', offset - 1) + 1;
  }

  /** The beginning of the line after an offset; the offset itself if a line begins there. */
  #nextLine(offset: number): number {
    if (this.#text[offset - 1] === '\n') return offset;
    const end = this.#text.indexOf('\n', offset);
    return end < 0 ? this.#text.length : end + 1;
  }

  #columnOf(offset: number): number {
    return offset - this.#lineStart(offset);
  }

  #dashOf(item: Node): number {
    return this.#text.lastIndexOf('-', startOf(item) - 1);
  }

  /** The beginning of the line below an offset, and below the comments there from a column on. */
  #belowComments(offset: number, column: number): number {
    const at = this.#nextLine(offset);
    const comments = new RegExp(`(?:(?:[ \\t]*\\r?\\n)* {${column},}#.*(?:\\r?\\n|$))*`, 'y');
    comments.lastIndex = at;
    return at + (comments.exec(this.#text)?.[0].length ?? 0);
  }

  /** The beginning of the comments above the line of an offset. */
  #aboveComments(offset: number): number {
    let at = this.#lineStart(offset);
    for (;;) {
      const above = this.#lineStart(at - 1);
      if (at === 0 || !/^\s*(?:#|$)/.test(this.#text.slice(above, at))) return at;
      at = above;
    }
  }
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

/** The end of a value; of a block map or list, that of its last value, because comments may follow. */
function endOf(node: Node): number {
  const last = isMap<Node, Node | null>(node) || isSeq<Node>(node) ? node.items.at(-1) : undefined;
  if (last === undefined || ('flow' in node && node.flow === true)) return node.range?.[1] ?? 0;
  return isPair<Node, Node | null>(last) ? endOf(last.value ?? last.key) : endOf(last);
}

/** Braces and brackets are needed only for what is empty. */
const isFilled = (value: unknown): value is Fields => isObject(value) && Object.keys(value).length > 0;
const isFilledList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

/** Lines by the JSON of their value: most workloads get the same container, which takes longer to write than to find. */
const written = new Map<string, readonly string[]>();
const mostWritten = 100;

function linesOf(value: unknown): readonly string[] {
  const json = JSON.stringify(value);
  const known = written.get(json);
  if (known !== undefined) return known;
  if (written.size >= mostWritten) written.clear();
  const lines = writeYaml(value).trimEnd().split('\n');
  written.set(json, lines);
  return lines;
}
