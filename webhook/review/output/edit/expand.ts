import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { kubernetesScalars } from '../../input/scalars.ts';
import { writing } from '../../input/yaml.ts';
import { CannotEdit } from './source.ts';

/**
 * The text of a document with aliases and merge keys expanded and without anchors, so that a change in one place does
 * not affect another. Comments and the text of scalars stay; the layout is the YAML library's.
 *
 * @throws CannotEdit if the library, which is stricter than Kubernetes' reader, cannot read the text
 */
export function expandAliases(text: string): string {
  const document = parseDocument(text, {
    schema: 'failsafe',
    customTags: kubernetesScalars,
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  if (document.errors.length > 0) throw new CannotEdit('the library cannot read it');
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

/** Replaces a merge key by the merged pairs. Of equal keys, the last one counts; in a list of maps, the first map. */
function spread(map: YAMLMap): undefined {
  if (!map.items.some(isMerge)) return undefined;
  const pairs = map.items.flatMap((pair) => {
    if (!isMerge(pair)) return [pair];
    return isSeq(pair.value) ? pair.value.items.toReversed().flatMap(pairsOf) : pairsOf(pair.value);
  });
  const last = new Map(pairs.map((pair) => [keyOf(pair), pair]));
  map.items = pairs.filter((pair) => last.get(keyOf(pair)) === pair);
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
  isNode(key) && !isAlias(key) && isScalar(key) && key.type === 'PLAIN' && key.source === '<<';
