import { isDeepStrictEqual as same } from 'node:util';
import type { Pair, YAMLMap, YAMLSeq } from 'yaml';
import type { Fields } from '../../values.ts';
import type { Inside } from './block-map.ts';
import { arrange, movesAbout } from './items.ts';
import { CannotEdit, type Edit, endOf, isEmpty, ownPairs, type Source, startOf } from './source.ts';

/**
 * Edits that make a map in braces, not empty before or after, what it should be. What is written is JSON, which
 * stands in flow YAML as well.
 */
export function flowMapEdits(
  source: Source,
  map: YAMLMap,
  before: Fields,
  after: Fields,
  inside: Inside,
): Edit[] {
  const pairs = ownPairs(map);
  const last = map.items.at(-1);
  if (last === undefined || pairs.size < map.items.length) throw new CannotEdit('the map is empty or merged');
  const layout = layoutAt(source, startOf(last.key));
  const edits = [...pairs].flatMap(([key, pair]) => {
    if (!Object.hasOwn(after, key)) return [removal(map, pair)];
    return (
      inside.edits(pair.value, before[key], after[key]) ?? [replacement(pair.value, layout.json(after[key]))]
    );
  });
  const end = endOf(last);
  const added = Object.entries(after)
    .filter(([key]) => !pairs.has(key))
    .map(([key, value]) => `,${layout.gap}${JSON.stringify(key)}: ${layout.json(value)}`);
  return added.length === 0 ? edits : [...edits, { start: end, end, text: added.join('') }];
}

/** Edits that make a list in brackets, not empty before or after, what it should be. */
export function flowSeqEdits(
  source: Source,
  seq: YAMLSeq,
  before: unknown[],
  after: unknown[],
  inside: Inside,
): Edit[] {
  const start = startOf(seq.items[0]);
  const layout = layoutAt(source, start);
  if (!movesAbout(before, after)) {
    return seq.items.flatMap((item, index) => {
      if (same(before[index], after[index])) return [];
      return (
        inside.edits(item, before[index], after[index]) ?? [replacement(item, layout.json(after[index]))]
      );
    });
  }
  const texts = seq.items.map((item) => source.text.slice(startOf(item), endOf(item)));
  const arranged = arrange(before, after, texts, layout.json);
  return [{ start, end: endOf(seq.items.at(-1)), text: arranged.join(`,${layout.gap}`) }];
}

interface Layout {
  /** What stands between a comma and the next item. */
  gap: string;
  json: (value: unknown) => string;
}

/** Items that begin a line are written a line each, as are those in them; others stay on theirs. */
function layoutAt(source: Source, item: number): Layout {
  if (!source.isFirstInLine(item)) {
    return { gap: ' ', json: (value) => JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ') };
  }
  const gap = source.eol + ' '.repeat(source.column(item));
  const step = /\n( +)/.exec(source.text)?.[1] ?? '  ';
  return { gap, json: (value) => JSON.stringify(value, null, step).replaceAll('\n', gap) };
}

function replacement(node: unknown, text: string): Edit {
  if (isEmpty(node)) throw new CannotEdit('a value is not written');
  return { start: startOf(node), end: endOf(node), text };
}

/** Takes a pair away together with the comma behind it, or that before the last one. */
function removal(map: YAMLMap, pair: Pair): Edit {
  const at = map.items.indexOf(pair);
  const [previous, next] = [map.items[at - 1], map.items[at + 1]];
  if (next !== undefined) return { start: startOf(pair.key), end: startOf(next.key), text: '' };
  return { start: previous === undefined ? startOf(pair.key) : endOf(previous), end: endOf(pair), text: '' };
}
