import type { Path } from '../model.ts';
import { fieldsOf, isObject } from '../values.ts';
import { parseManifest } from './locate.ts';

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
  const behindKey = key.index + key[0].length;
  const first = /^((?:[ \t]*(?:#.*)?\r?\n)*)( *)-[ \t\r\n]/.exec(text.slice(behindKey));
  if (first === null) return undefined;
  const [, comments = '', { length: column } = ''] = first;
  const begin = behindKey + comments.length;
  // the first line that is neither of an item, nor empty, nor a comment
  const behind = new RegExp(`^(?! {${column}}[- ]|[ \\t]*(?:#.*)?\\r?$)`, 'm').exec(text.slice(begin));
  const end = begin + (behind?.index ?? text.length - begin);
  const items = text.slice(begin, end);
  const starts = [...items.matchAll(new RegExp(`^ {${column}}-`, 'gm'))].map(({ index }) => index);
  const pieces = starts.map((from, index) => ({ text: items.slice(from, starts[index + 1]), item: true }));
  const [head, tail] = [text.slice(0, begin), text.slice(end)];
  const list = listWithout(head + tail);
  if (list === undefined) return undefined;
  const all = [{ text: head, item: false }, ...pieces, { text: tail, item: false }];
  return { pieces: all.filter((piece) => piece.text !== ''), list };
}

/** The List of a text without its items; undefined if it is no List. */
function listWithout(text: string): unknown {
  try {
    const { value } = parseManifest(text);
    const list = isObject(value) ? { ...value, items: [] } : value;
    return itemsOf(list) === undefined ? undefined : list;
  } catch {
    return undefined;
  }
}

/** The objects in a document with several. */
export interface Items {
  list: unknown[];
  path: Path;
  /** Adds the fields that the items of a typed list omit. */
  complete: (item: unknown) => unknown;
}

/**
 * The items of a document: a list, a List, or a list of one kind such as PodList, whose items may omit kind and
 * apiVersion (https://kubernetes.io/docs/reference/using-api/api-concepts/#collections).
 */
export function itemsOf(value: unknown): Items | undefined {
  if (Array.isArray(value)) return { list: value, path: [], complete: (item) => item };
  const { kind, apiVersion, items } = fieldsOf(value);
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return undefined;
  const itemKind = kind.slice(0, -'List'.length);
  const complete = (item: unknown): unknown =>
    itemKind === '' || !isObject(item) || 'kind' in item ? item : { apiVersion, kind: itemKind, ...item };
  return { list: items, path: ['items'], complete };
}

/** Strings and brackets of JSON. */
const mark = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs;

/** Where the objects in a JSON list, or in the `items` of a JSON object, begin. */
export function itemStarts(text: string): number[] {
  const starts: number[] = [];
  const open: string[] = [];
  let key = '';
  let last = '';
  const amongItems = (): boolean =>
    open[0] === '[' ? open.length === 1 : open.length === 2 && open[1] === '[' && key === '"items"';
  for (const { 0: token, index } of text.matchAll(mark)) {
    if (token === ':' && open.length === 1) key = last;
    if (token.startsWith('"')) last = token;
    if (token === '{' && amongItems()) starts.push(index);
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
  }
  return starts;
}

/** Where JSON values behind one another begin, by their brackets. */
export function valueStarts(text: string): number[] {
  const starts: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(mark)) {
    const opens = token === '{' || token === '[';
    if (opens && depth === 0) starts.push(index);
    if (opens) depth += 1;
    if (token === '}' || token === ']') depth -= 1;
  }
  return starts;
}
