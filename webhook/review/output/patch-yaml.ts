import type { Operation } from 'fast-json-patch';
import { isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { childOf, nodeOf, pairAt } from '../../lib/yaml.ts';
import { parts } from '../values.ts';

type YamlMap = YAMLMap<Node, Node | null>;
type Collection = YamlMap | YAMLSeq<Node | null>;

/**
 * Applies a JSON Patch to a YAML node, in place: `add`, `remove`, `replace` and `move`, which admission uses. Comments
 * stay. A map or list in braces or brackets is written in lines if something in it changes.
 *
 * @param root a map without aliases and merge keys
 * @throws TypeError if an operation does not fit the node
 */
export function patchNode(root: Node, operations: readonly Operation[]): void {
  for (const operation of operations) {
    const { parent, key } = find(root, operation.path);
    switch (operation.op) {
      case 'add':
        add(parent, key, nodeOf(operation.value));
        break;
      case 'replace':
        replace(parent, key, nodeOf(operation.value));
        break;
      case 'remove':
        remove(parent, key);
        break;
      case 'move': {
        const from = find(root, operation.from);
        add(parent, key, remove(from.parent, from.key));
        break;
      }
      default:
        throw new TypeError(`the operation ${operation.op} is not supported`);
    }
  }
}

/** The map or list around a value, and the value's key in it. Everything from the root to it is written in lines. */
function find(root: Node, pointer: string): { parent: Collection; key: string | number } {
  const path = parts(pointer);
  const key = path.pop() ?? '';
  let node: unknown = root;
  for (const part of [undefined, ...path]) {
    if (part !== undefined) node = childOf(node, part);
    if (!isMap(node) && !isSeq(node)) throw new TypeError(`there is nothing at ${pointer}`);
    node.flow = false;
  }
  return { parent: node as Collection, key };
}

function add(parent: Collection, key: string | number, value: Node | null): void {
  if (isMap(parent)) {
    if (pairAt(parent, key) !== undefined) replace(parent, key, value);
    else parent.items.push(...pairs(key, value));
    return;
  }
  const index = key === '-' ? parent.items.length : Number(key);
  const [first = null] = parent.items;
  // the package takes a comment above the first item for one of the list
  if (index === 0 && first !== null && parent.commentBefore) {
    first.commentBefore = parent.commentBefore;
    parent.commentBefore = null;
  }
  parent.items.splice(index, 0, value);
}

function pairs(key: string | number, value: Node | null): YamlMap['items'] {
  const { items } = nodeOf({ [key]: null }) as YamlMap;
  for (const pair of items) pair.value = value;
  return items;
}

function replace(parent: Collection, key: string | number, value: Node | null): void {
  const pair = isMap(parent) ? pairAt(parent, key) : undefined;
  if (pair !== undefined) pair.value = withComments(value, pair.value);
  else if (isSeq(parent)) {
    const index = Number(key);
    parent.items[index] = withComments(value, parent.items[index] ?? null);
  }
}

/** @returns what is removed */
function remove(parent: Collection, key: string | number): Node | null {
  if (isSeq(parent)) return parent.items.splice(Number(key), 1)[0] ?? null;
  const removed = pairAt(parent, key);
  if (removed === undefined) throw new TypeError(`there is no ${key}`);
  // of two equal keys the last one counts, and the other one would count without it
  parent.items = parent.items.filter(
    (pair) => !(isScalar(pair.key) && String(pair.key.value) === String(key)),
  );
  return removed.value;
}

/** A node with the comments of the one that it replaces. */
function withComments(value: Node | null, old: Node | null): Node | null {
  if (value === null || old === null) return value;
  const { commentBefore, comment } = old;
  if (isScalar(value)) Object.assign(value, { commentBefore, comment });
  else value.commentBefore = [commentBefore, comment].filter(Boolean).join('\n') || null;
  return value;
}
