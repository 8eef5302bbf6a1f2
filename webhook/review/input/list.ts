import { isObject } from '../values.ts';
import { itemsOf } from './items.ts';
import { itemRanges } from './json.ts';
import { parseManifest } from './yaml.ts';

/** A large List, split so that each of its items can be read separately. */
export interface CutList {
  /** Parts of its text in order: together they are the text. */
  pieces: { text: string; item: boolean }[];
  /** The List without its items, for the fields that they omit. */
  list: unknown;
}

/**
 * Splits a List in the form of `kubectl get --output yaml`: `items` is a block list and a top-level key. If a line in
 * quotes looks like the next item, the split leaves quotes open, so a wrong split is an error and never another value.
 *
 * @returns undefined for any other text
 */
export function cutYamlList(text: string): CutList | undefined {
  const key = /^items:[ \t]*(?:#.*)?\r?\n/m.exec(text);
  if (key === null) return undefined;
  const first = /^(?:[ \t]*(?:#.*)?\r?\n)*( *)-[ \t\r\n]/.exec(text.slice(key.index + key[0].length));
  if (first === null) return undefined;
  const column = first[1]?.length ?? 0;
  const begin = text.indexOf('-', key.index + key[0].length) - column;
  const starts: number[] = [];
  let at = begin;
  for (; at < text.length; at = nextLine(text, at)) {
    const indent = indentOf(text, at);
    if (indent > column || isEmptyLine(text, at + indent)) continue;
    if (indent < column || text[at + indent] !== '-') break;
    starts.push(at);
  }
  const pieces = starts.map((from, index) => ({
    text: text.slice(from, starts[index + 1] ?? at),
    item: true,
  }));
  const [head, tail] = [text.slice(0, begin), text.slice(at)];
  return checked(head + tail, [{ text: head, item: false }, ...pieces, { text: tail, item: false }]);
}

/** Splits a List of JSON, or a list of objects. */
export function cutJsonList(text: string): CutList | undefined {
  const ranges = itemRanges(text);
  const [first] = ranges;
  if (first === undefined) return undefined;
  const pieces: CutList['pieces'] = [{ text: text.slice(0, first.start), item: false }];
  for (const [index, { start, end }] of ranges.entries()) {
    const next = ranges[index + 1]?.start;
    const behind = text.slice(end, next);
    if (next !== undefined && behind.trim() !== ',') return undefined;
    pieces.push({ text: text.slice(start, end), item: true }, { text: behind, item: false });
  }
  return checked(text.slice(0, first.start) + text.slice(ranges.at(-1)?.end), pieces);
}

function checked(rest: string, pieces: CutList['pieces']): CutList | undefined {
  try {
    const { value } = parseManifest(rest);
    const list = isObject(value) ? { ...value, items: [] } : value;
    return itemsOf(list) === undefined
      ? undefined
      : { pieces: pieces.filter((piece) => piece.text !== ''), list };
  } catch {
    return undefined;
  }
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

function indentOf(text: string, at: number): number {
  let indent = 0;
  while (text[at + indent] === ' ') indent += 1;
  return indent;
}

const isEmptyLine = (text: string, at: number): boolean => ['\n', '\r', '#', undefined].includes(text[at]);
