import { isDeepStrictEqual as same } from 'node:util';
import { writeYaml } from '../../input/yaml.ts';
import type { Fields } from '../../values.ts';
import type { AliasNode, MapNode, YamlNode, YamlPair } from '../../yaml/nodes.ts';
import {
  CannotEdit,
  colonEnd,
  type Edit,
  endOf,
  endOfPair,
  isEmpty,
  ownPairs,
  type Source,
} from './source.ts';

/** How a collection edits its values. */
export interface Inside {
  /** Edits inside a value, or undefined if the whole value must be rewritten. */
  edits(node: YamlNode, before: unknown, after: unknown): Edit[] | undefined;
  /** The changed value of an alias: text that replaces the alias after a key. */
  writtenOut(alias: AliasNode, before: unknown, after: unknown, pad: string): string;
}

/** Edits that change a block map that is not empty before or after. New keys go after the others. */
export function blockMapEdits(
  source: Source,
  map: MapNode,
  before: Fields,
  after: Fields,
  inside: Inside,
): Edit[] {
  const pairs = ownPairs(map);
  const [first] = map.pairs;
  const last = map.pairs.at(-1);
  if (first === undefined || last === undefined) throw new CannotEdit('the map is empty');
  const pad = ' '.repeat(source.column(first.key.start));
  const edits = [...pairs].flatMap(([key, pair]) => {
    if (!Object.hasOwn(after, key)) return [removal(source, pair)];
    if (pair.value.kind === 'alias' && !same(before[key], after[key])) {
      const text = inside.writtenOut(pair.value, before[key], after[key], pad);
      return [{ start: colonEnd(pair), end: endOf(pair.value), text }];
    }
    return inside.edits(pair.value, before[key], after[key]) ?? [replacement(source, pair, pad, after[key])];
  });
  const added = Object.entries(after).filter(([key]) => !Object.hasOwn(before, key));
  const lines = added.flatMap(([key, value]) => written(source, { [key]: value }, pad));
  return lines.length === 0 ? edits : [...edits, insertion(source, last, pad.length, lines)];
}

/** The lines of a value in block style. */
export function written(source: Source, value: unknown, pad: string): string[] {
  const lines = writeYaml(value, source.indentSeq).replace(/\n$/, '').split('\n');
  return lines.map((line) => (line === '' ? line : pad + line));
}

/** Adds lines after the last pair and the comments below it. */
function insertion(source: Source, last: YamlPair, column: number, lines: string[]): Edit {
  const at = source.behindComments(source.afterLine(endOfPair(last)), column);
  return { start: at, end: at, text: lines.join(source.eol) + source.eol };
}

function removal(source: Source, pair: YamlPair): Edit {
  const key = pair.key.start;
  if (!source.isFirstInLine(key)) throw new CannotEdit('a key shares its line');
  return { start: source.lineStart(key), end: source.afterLine(endOfPair(pair)), text: '' };
}

/** Rewrites a pair's value. A comment after the old value stays in the line of the key. */
function replacement(source: Source, pair: YamlPair, pad: string, value: unknown): Edit {
  const start = colonEnd(pair);
  const [first = '', ...more] = written(source, { k: value }, pad);
  const head = first.slice(`${pad}k:`.length);
  const end = isEmpty(pair.value) ? start : lineOf(source, endOf(pair.value));
  if (head !== '') return { start, end, text: [head, ...more].join(source.eol) };
  const lineEnd = source.lineEnd(end);
  const comment = source.text.slice(end, lineEnd).trimEnd();
  return { start, end: lineEnd, text: [comment, ...more].join(source.eol) };
}

/** The end of a value without the line end that belongs to a block scalar. */
function lineOf(source: Source, end: number): number {
  return source.text[end - 1] === '\n' ? source.lineEnd(end - 1) : end;
}
