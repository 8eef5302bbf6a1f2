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
  type Scalar,
  stringify,
} from 'yaml';
import type { Path } from '../model.ts';
import { kubernetesScalars } from './scalars.ts';

const options = {
  schema: 'failsafe',
  customTags: kubernetesScalars,
  merge: true,
  resolveKnownTags: false,
  // the last of two equal keys wins, as where helm reads a manifest; looking for them is quadratic
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/** Enough for any manifest; a text of nine lines could otherwise stand for gigabytes. */
const mostAliases = 1000;

/**
 * Parses one document. Errors are in its `errors`; a text nested too deeply throws a RangeError.
 *
 * @param keepSourceTokens what editing the text needs, and reading it does not
 */
export function parseYaml(text: string, keepSourceTokens = false): Document.Parsed {
  return parseDocument(text, { ...options, keepSourceTokens });
}

/**
 * The second of two equal keys of an object itself, such as `kind`: two manifests without `---` between them. Deeper
 * ones are left to the API server, as charts that install well have them.
 */
export function repeatedKey({ contents }: Document.Parsed): Scalar.Parsed | undefined {
  const seen = new Set<unknown>();
  if (!isMap(contents)) return undefined;
  for (const { key } of contents.items) {
    if (!isScalar(key) || key.source === '<<') continue;
    if (seen.has(key.value)) return key as Scalar.Parsed;
    seen.add(key.value);
  }
  return undefined;
}

/**
 * A document's value, with aliases and merge keys resolved.
 *
 * @throws ReferenceError for an alias without an anchor, or for too many; Error for a merge of something else than
 *   a map
 */
export function plainValue(document: Document): unknown {
  return document.toJS({ maxAliasCount: mostAliases });
}

/** Options for writing: no line is folded, and strings are quoted that any YAML would take for something else. */
export const writing = { lineWidth: 0 } as const;

/** YAML text of a value, with a newline at the end. */
export function writeYaml(value: unknown, indentSeq = true): string {
  return stringify(value, {
    ...options,
    ...writing,
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    indentSeq,
  });
}

/** The pair of a map with this key; of two the last, which is the one that counts. */
export function pairAt(node: unknown, key: string | number): Pair | undefined {
  return isMap(node)
    ? node.items.findLast((pair) => String(isScalar(pair.key) ? pair.key.value : pair.key) === String(key))
    : undefined;
}

/** The node at a path. Undefined where there is none, or where the way leads through an alias or a merge. */
export function nodeAt(root: unknown, path: Path): Node | undefined {
  let node: unknown = root;
  for (const part of path) node = childOf(node, part);
  return isNode(node) && !isAlias(node) ? node : undefined;
}

/** The offset of the value at a path, or of the nearest value around it. */
export function offsetNear(root: Node | null, path: Path): number {
  let offset = root?.range?.[0] ?? 0;
  let node: unknown = root;
  for (const [index, part] of path.entries()) {
    const key = pairAt(node, part)?.key;
    node = childOf(node, part);
    // a field is where its key is; an object in a list is where it begins
    const place = index === path.length - 1 && isNode(key) ? key : node;
    if (!isNode(place)) break;
    offset = place.range?.[0] ?? offset;
  }
  return offset;
}

function childOf(node: unknown, part: string | number): unknown {
  return isSeq(node) ? node.items[Number(part)] : pairAt(node, part)?.value;
}
