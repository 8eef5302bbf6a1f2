import { isDeepStrictEqual as same } from 'node:util';
import {
  isCollection,
  isPair,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type ToStringOptions,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { layoutOf, readYaml, writeYaml } from '../../lib/yaml.ts';
import type { Fields } from '../values.ts';

type Item = Pair<Node, Node | null> | Node;
type Collection = YAMLMap<Node, Node | null> | YAMLSeq<Node>;

/** A field of a map or an item of a list, in lines of its own. */
interface Entry {
  /** The key of a field; of an item, its value as JSON. */
  key: string;
  node: Node;
  value: unknown;
  /** Offsets: of the line end and comments before it, of itself, and behind its colon or dash. */
  lead: number;
  start: number;
  from: number;
  /** The end of its last line, and of comments that are indented more. */
  end: number;
}

/**
 * Writes changed values into the text from which nodes were read. Lines in which nothing changes stay as they are. A map
 * or list in braces or brackets is written in lines if something in it changes.
 */
export class Splice {
  readonly #text: string;
  readonly #layout: ToStringOptions;
  readonly #eol: string;

  /** @param text the text in which the nodes have offsets, with a line end as its last character */
  constructor(text: string, layout: ToStringOptions = layoutOf(text)) {
    this.#text = text;
    // a comment may stand behind what is written
    this.#layout = { ...layout, blockQuote: false };
    this.#eol = text.includes('\r\n') ? '\r\n' : '\n';
  }

  /** The whole text with another value of its root. */
  document(root: Node, before: unknown, after: unknown): string {
    const start = startOf(root);
    const value = this.#inLines(root, start, before, after) ?? this.#anew(root, before, after);
    return this.#text.slice(0, start) + value + this.#text.slice(this.#endOf(root));
  }

  /** The lines of an object, and the same lines with another value. */
  lines(node: Node, before: unknown, after: unknown): [before: string, after: string] {
    const start = startOf(node);
    const indent = this.#indentAt(start);
    const lines = /^[ -]*$/.test(indent) ? this.#inLines(node, start, before, after) : undefined;
    if (lines === undefined) return [writeYaml(before, this.#layout), writeYaml(after, this.#layout)];
    return [indent + this.#text.slice(start, this.#endOf(node)), indent + lines];
  }

  /** The changed text of a map or list from an offset on; undefined unless its entries are in lines, and it stays one. */
  #inLines(node: Node, from: number, before: unknown, after: unknown): string | undefined {
    const found = staysOne(node, after) && !node.flow ? this.#entries(node, from, before) : undefined;
    if (found === undefined) return undefined;
    const column = this.#indentAt(startOf(node)).length;
    const line = this.#eol + ' '.repeat(column);
    const fields = keyed(found, after as object);
    const entries = new Map(found.map((entry) => [entry.key, entry]));
    const kept = new Set(fields.map(([key]) => key));
    const left = found.filter(({ key }) => !kept.has(key));
    // comments stay
    let text = left.map(({ lead, start }) => this.#text.slice(lead, start).replace(/\r?\n *$/, '')).join('');
    for (const [key, value] of fields) {
      const entry = entries.get(key);
      entries.delete(key);
      if (entry === undefined) {
        const added = writeOnce(isSeq(node) ? [value] : { [key]: value }, this.#layout);
        text += line + this.#indented(added, column);
      } else {
        text += entry.lead === entry.start && text !== '' ? line : this.#text.slice(entry.lead, entry.start);
        text += this.#text.slice(entry.start, entry.from) + this.#changed(entry, value);
      }
    }
    return text;
  }

  /** What stands behind the colon or dash of an entry, with another value. */
  #changed({ node, value: before, start, from, end }: Entry, after: unknown): string {
    if (same(before, after)) return this.#text.slice(from, end);
    const tail = this.#text.slice(this.#endOf(node), end);
    const head = Math.min(this.#lineEnd(from), startOf(node));
    const lines = this.#inLines(node, head, before, after);
    if (lines !== undefined) return this.#text.slice(from, head) + lines + tail;
    const isItem = this.#text[from - 1] === '-';
    const isAligned = Array.isArray(after) && this.#layout.indentSeq === false && !isItem;
    const written = (isItem || isEmpty(after) ? ' ' : '\n') + this.#anew(node, before, after);
    return this.#indented(written, this.#indentAt(start).length + (isAligned ? 0 : 2)) + tail;
  }

  /** Another value of what is not in lines. The comment behind it stays. */
  #anew(node: Node, before: unknown, after: unknown): string {
    if (staysOne(node, after) && node.flow) {
      const text = writeYaml(Object.assign(node.clone(), { flow: false }), this.#layout);
      const root = readYaml(text)[0]?.source.contents as Node;
      return new Splice(text, this.#layout).document(root, before, after);
    }
    const comment = this.#text.slice(node.range?.[1], this.#endOf(node)).trimStart();
    return `${writeYaml(after, this.#layout).trimEnd()} ${comment}`.trimEnd();
  }

  /** The entries of a map or list; undefined unless each begins a line, or the first one stands behind dashes. */
  #entries({ items, range }: Collection, from: number, values: unknown): Entry[] | undefined {
    const first = range?.[0] ?? 0;
    const entries: Entry[] = [];
    let lead = from;
    for (const [index, item] of (items as Item[]).entries()) {
      const [name, node] = isPair(item) ? [item.key, item.value ?? item.key] : [undefined, item];
      const start = index === 0 ? first : name ? startOf(name) : this.#behind(lead, toDash);
      const indent = this.#indentAt(start);
      const isAlone = index === 0 ? /^[ -]*$/.test(indent) : /^ *$/.test(indent);
      if (!isAlone || indent.length !== this.#indentAt(first).length) return undefined;
      const field = name && String((name as Scalar).value);
      const value = (values as Fields)[field ?? index];
      const key = field ?? JSON.stringify(value);
      const colon = name ? this.#behind(name.range?.[1] ?? start, /\s*:/y) : start + 1;
      const end = this.#behind(this.#endOf(node), deeperComments(indent));
      entries.push({ key, node, value, lead, start, from: colon, end });
      lead = end;
    }
    return entries;
  }

  /** The end of the last line of a node, and of comments that belong to what is in it. */
  #endOf(node: Node): number {
    const last = isCollection(node) && !node.flow ? (node.items.at(-1) as Item | undefined) : undefined;
    if (last !== undefined) {
      const end = this.#endOf(isPair(last) ? (last.value ?? last.key) : last);
      return this.#behind(end, deeperComments(this.#indentAt(startOf(node))));
    }
    const end = node.range?.[1] ?? 0;
    return this.#lineEnd(this.#text[end - 1] === '\n' ? end - 1 : end);
  }

  #lineEnd(offset: number): number {
    const end = this.#text.indexOf('\n', offset);
    return this.#text[end - 1] === '\r' ? end - 1 : end;
  }

  /** What precedes an offset in its line. */
  #indentAt(offset: number): string {
    return this.#text.slice(this.#text.lastIndexOf('\n', offset - 1) + 1, offset);
  }

  /** The end of what matches at an offset. */
  #behind(offset: number, sticky: RegExp): number {
    sticky.lastIndex = offset;
    return sticky.test(this.#text) ? sticky.lastIndex : offset;
  }

  #indented(text: string, column: number): string {
    return text
      .replace(/\n$/, '')
      .replaceAll(/\n(?=.)/g, `\n${' '.repeat(column)}`)
      .replaceAll('\n', this.#eol);
  }
}

const startOf = (node: Node): number => node.range?.[0] ?? 0;

const isEmpty = (value: unknown): boolean =>
  typeof value !== 'object' || Object.keys(value ?? {}).length === 0;

/** Whether a map or list stays one, and neither is empty. */
const staysOne = (node: Node, after: unknown): node is Collection =>
  isCollection(node) && node.items.length > 0 && isSeq(node) === Array.isArray(after) && !isEmpty(after);

/** From the end of an item to the dash of the next one. */
const toDash = /(?:[ \t\r]*(?:#.*)?\n)* */y;

const deeperComments = ({ length }: string): RegExp => new RegExp(`(?:\\s*\\n {${length + 1},}#.*)*`, 'y');

/** Texts that were written lately: most pods get the same. */
const lately = new Map<string, string>();

function writeOnce(value: unknown, layout: ToStringOptions): string {
  const key = JSON.stringify([value, layout]);
  const text = lately.get(key) ?? writeYaml(value, layout);
  if (lately.size >= 100) lately.clear();
  lately.set(key, text);
  return text;
}

/**
 * The keys and values of a map or list that was changed. An item of a list has the key of an equal item before, or of the
 * one whose place it takes.
 */
function keyed(entries: readonly Entry[], after: object): [key: string, value: unknown][] {
  if (!Array.isArray(after)) {
    const keys = new Set([...entries.map(({ key }) => key), ...Object.keys(after)]);
    return [...keys].filter((key) => Object.hasOwn(after, key)).map((key) => [key, (after as Fields)[key]]);
  }
  const keys = after.map((item) => JSON.stringify(item));
  const kept = new Set(keys);
  return keys.map((key, index) => {
    const old = entries.length === keys.length ? entries[index]?.key : undefined;
    return [old === undefined || kept.has(old) ? key : old, after[index]];
  });
}
