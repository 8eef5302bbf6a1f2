import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import { writing } from '../../input/yaml.ts';
import { CannotEdit } from './source.ts';

/**
 * The text of a document with what its aliases and merge keys stand for in their place, and without anchors, so
 * that a change in one place is no change in another. Comments and the text of scalars stay; the layout is the
 * YAML library's.
 *
 * @param text what the document was parsed from
 * @param document is changed
 * @throws CannotEdit for an alias or merge of something that is not there
 */
export function expandAliases(text: string, document: Document): string {
  visit(document, {
    Alias: (_key, alias) => {
      const target = alias.resolve(document);
      if (target === undefined) throw new CannotEdit(`nothing has the anchor ${alias.source}`);
      const copy = target.clone() as Node;
      dropAnchors(copy);
      return copy;
    },
  });
  visit(document, { Map: (_key, map) => spread(map) });
  dropAnchors(document);
  return document.toString({ ...writing, flowCollectionPadding: /\{ /.test(text) });
}

function dropAnchors(node: Node | Document): void {
  visit(node, {
    Value: (_key, value) => {
      delete value.anchor;
    },
  });
}

/** Puts merged pairs in the place of a merge key; keys of the map itself, and of earlier merges, win. */
function spread(map: YAMLMap): undefined {
  if (!map.items.some(isMerge)) return undefined;
  const taken = new Set(map.items.filter((pair) => !isMerge(pair)).map(keyOf));
  map.items = map.items.flatMap((pair) => {
    if (!isMerge(pair)) return [pair];
    const merged = isSeq(pair.value) ? pair.value.items : [pair.value];
    return merged.flatMap(pairsOf).filter((inner) => {
      const key = keyOf(inner);
      if (taken.has(key)) return false;
      taken.add(key);
      return true;
    });
  });
  return undefined;
}

/** A merged map may merge others itself. */
function pairsOf(node: unknown): Pair[] {
  if (!isMap(node)) throw new CannotEdit('a merge of something that is no map');
  spread(node);
  return node.items;
}

const keyOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

const isMerge = ({ key }: Pair): boolean =>
  isScalar(key) && key.source === '<<' && isNode(key) && !isAlias(key);
