import { isDeepStrictEqual as same } from 'node:util';
import type { Fields } from '../../values.ts';
import type { MapNode, SeqNode, YamlNode } from '../../yaml/nodes.ts';
import type { Inside } from './block-map.ts';
import { FlowText } from './flow-text.ts';
import { arrange, kept, movesAbout } from './items.ts';
import { CannotEdit, type Edit, isEmpty, ownPairs, type Source } from './source.ts';

/**
 * Edits that change a map in braces that is not empty before or after. New text is JSON, which is valid flow YAML.
 * Comments stay in place.
 */
export function flowMapEdits(
  source: Source,
  map: MapNode,
  before: Fields,
  after: Fields,
  inside: Inside,
): Edit[] {
  const pairs = ownPairs(map);
  if (pairs.size < map.pairs.length) throw new CannotEdit('the map is merged, or has a key twice');
  const entries = map.pairs.map(({ key, colon, value }) => ({
    start: key.start,
    end: isEmpty(value) ? (colon ?? key.end) : value.end,
  }));
  const text = new FlowText(source, entries, map.end - 1);
  const edits = [...pairs].flatMap(([key, { value }]) => {
    if (!Object.hasOwn(after, key)) return [];
    return inside.edits(value, before[key], after[key]) ?? replaced(text, value, after[key]);
  });
  const removed = [...pairs.keys()].flatMap((key, index) => (Object.hasOwn(after, key) ? [] : [index]));
  const added = Object.entries(after)
    .filter(([key]) => !pairs.has(key))
    .map(([key, value]) => `${JSON.stringify(key)}: ${text.json(value)}`);
  return [...edits, ...text.remove(removed), ...text.append(added, removed)];
}

/** Edits that change a list in brackets that is not empty before or after. Comments stay in place. */
export function flowSeqEdits(
  source: Source,
  seq: SeqNode,
  before: unknown[],
  after: unknown[],
  inside: Inside,
): Edit[] {
  const text = new FlowText(source, seq.items, seq.end - 1);
  if (!movesAbout(before, after)) {
    return seq.items.flatMap((item, index) => {
      if (same(before[index], after[index])) return [];
      return inside.edits(item, before[index], after[index]) ?? replaced(text, item, after[index]);
    });
  }
  const places = kept(before, after);
  const stay = new Set(places.filter((place) => place !== undefined));
  if (stay.size === 0) {
    const texts = seq.items.map((item) => source.text.slice(item.start, item.end));
    return [text.replaceAll(arrange(before, after, texts, text.json))];
  }
  const removed = [...before.keys()].filter((index) => !stay.has(index));
  const edits = text.remove(removed);
  let waiting: string[] = [];
  for (const [index, value] of after.entries()) {
    const place = places[index];
    if (place === undefined) {
      waiting.push(text.json(value));
    } else {
      edits.push(...text.insert(waiting, place));
      waiting = [];
    }
  }
  return [...edits, ...text.append(waiting, removed)];
}

function replaced(text: FlowText, node: YamlNode, value: unknown): Edit[] {
  if (isEmpty(node)) throw new CannotEdit('a value is not written');
  return [{ start: node.start, end: node.end, text: text.json(value) }];
}
