import { stringify } from 'yaml';
import type { Path } from '../model.ts';
import type { YamlNode, YamlPair } from '../yaml/nodes.ts';
import { parseDocument } from '../yaml/parser.ts';
import { jsonValue, keyText } from '../yaml/value.ts';
import { kubernetesScalars } from './scalars.ts';

/** Parses one document; see {@link parseDocument}. A missing last newline is added, as kubectl does. */
export const parseYaml = (text: string, json = false): YamlNode | undefined =>
  parseDocument(text.endsWith('\n') ? text : `${text}\n`, json);

/** The value of a document's text; undefined if it is empty. */
export function readYaml(text: string): unknown {
  const root = parseYaml(text);
  return root === undefined ? undefined : jsonValue(root);
}

/** Options that keep lines: by default, the library folds long scalars and reindents the rest. */
export const writing = { lineWidth: 0 } as const;

/** YAML text of a value, with a newline at the end. */
export function writeYaml(value: unknown, indentSeq = true): string {
  return stringify(value, {
    schema: 'failsafe',
    customTags: kubernetesScalars,
    ...writing,
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    indentSeq,
  });
}

/** The pair of a map with this key; of two, the last one, which counts. */
export function pairAt(node: YamlNode | undefined, key: string | number): YamlPair | undefined {
  if (node?.kind !== 'map') return undefined;
  return node.pairs.findLast((pair) => pair.key.kind === 'scalar' && keyText(pair.key) === String(key));
}

/** The node at a path; undefined if there is none, or if the path leads through an alias or a merge. */
export function nodeAt(root: YamlNode | undefined, path: Path): YamlNode | undefined {
  let node = root;
  for (const part of path) node = childOf(node, part);
  return node?.kind === 'alias' ? undefined : node;
}

/** The offset of the value at a path, or of the nearest parent. */
export function offsetNear(root: YamlNode | undefined, path: Path): number {
  let offset = root?.start ?? 0;
  let node = root;
  for (const [index, part] of path.entries()) {
    const key = pairAt(node, part)?.key;
    node = childOf(node, part);
    // the position of a field is that of its key; an object in a list begins at its first field
    const place = index === path.length - 1 && key !== undefined ? key : node;
    if (place === undefined) break;
    offset = place.start;
  }
  return offset;
}

function childOf(node: YamlNode | undefined, part: string | number): YamlNode | undefined {
  return node?.kind === 'seq' ? node.items[Number(part)] : pairAt(node, part)?.value;
}
