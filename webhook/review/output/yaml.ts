import jsonpatch, { type Operation } from 'fast-json-patch';
import { isMap, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { expandAliases, nodeAt, nodeOf, readYaml, writeYaml, type YamlDocument } from '../../lib/yaml.ts';
import { parsed } from '../input/documents.ts';
import { withoutMarker } from '../input/split.ts';
import type { Report, Reviewed, SourceDocument } from '../model.ts';
import { parts, valueAt } from '../values.ts';

/**
 * The YAML output: the input with the patches applied. It has all documents in their order, including ignored and
 * unreadable ones, and nothing else is changed. Where a file ends without a newline, so does its text: some readers would
 * read another value from a block scalar there. Only before a marker it gets one.
 */
export function yamlOutput(report: Report): string {
  const byDocument = Map.groupBy(report.reviewed, (one) => one.workload.document);
  const texts: string[] = [];
  for (const document of report.documents) {
    const text = patchedText(document, byDocument.get(document) ?? []);
    // parts of a List continue each other; the first document of a file and consecutive JSON values have no marker
    if (texts.length > 0 && !document.continues) {
      if (texts.at(-1)?.endsWith('\n') === false) texts.push('\n');
      if (!/^(?:---|\.\.\.)(?=\s|$)/.test(text)) texts.push('---\n');
    }
    texts.push(text);
  }
  return texts.join('');
}

/** The nodes of a document of YAML, without aliases. They may be changed. */
export function nodesOf({ text }: SourceDocument): YamlDocument['source'] | undefined {
  const source = readYaml(withNewline(withoutMarker(text)))[0]?.source;
  if (source !== undefined) expandAliases(source);
  return source;
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/**
 * The text of a document with the patches of its workloads: the text itself if there are none. Comments and the spelling
 * of values stay; aliases are replaced by copies.
 */
function patchedText(document: SourceDocument, reviewed: readonly Reviewed[]): string {
  const own = document.text;
  const changed = reviewed.filter(({ decision }) => decision.operations.length > 0);
  if (changed.length === 0) return own;
  const marker = own.startsWith('---') ? '---\n' : '';
  const source = document.json ? undefined : nodesOf(document);
  if (source === undefined) {
    const value = structuredClone(parsed(document).value);
    for (const { workload, decision } of changed) {
      // copied, because later operations change the values that became parts of the object
      const operations = structuredClone(decision.operations);
      jsonpatch.applyPatch(valueAt(value, workload.path), operations, true, true);
    }
    const indent = /^\s*[{[]\r?\n([ \t]+)/.exec(withoutMarker(own))?.[1];
    return `${marker}${JSON.stringify(value, null, indent)}${own.endsWith('\n') ? '\n' : ''}`;
  }
  for (const one of changed) patchNode(nodeAt(source.contents, one.workload.path), one);
  const written = writeYaml(source, own);
  const text = own.endsWith('\n') ? written : written.replace(/\n$/, '');
  return marker + (own.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text);
}

/**
 * Applies a workload's patch to the node of its object, in place: `add`, `remove`, `replace` and `move`, which admission
 * uses. Comments stay. A map or list in braces or brackets is written in lines if something in it changes.
 *
 * @param root a node without aliases and merge keys
 */
export function patchNode(root: Node | undefined, { decision }: Reviewed): void {
  for (const operation of decision.operations) {
    const { parent, key } = placeIn(root, operation);
    if (operation.op === 'remove') parent.delete(key);
    else if (operation.op === 'replace' || (operation.op === 'add' && isMap(parent))) {
      setIn(parent, key, nodeOf(operation.value));
    } else if (operation.op === 'add') insert(parent, key, nodeOf(operation.value));
    else if (operation.op === 'move') {
      const from = placeIn(root, { path: operation.from });
      const moved = from.parent.get(from.key, true);
      from.parent.delete(from.key);
      insert(parent, key, moved);
    }
  }
}

type Collection = YAMLMap<unknown, unknown> | YAMLSeq;

/** The map or list around a value, and the value's key in it. Everything from the root to it is written in lines. */
function placeIn(root: Node | undefined, { path: pointer }: Pick<Operation, 'path'>) {
  const path = parts(pointer);
  const key = path.pop() ?? '';
  let parent: Collection | undefined;
  for (let depth = 0; depth <= path.length; depth += 1) {
    const node = nodeAt(root ?? null, path.slice(0, depth));
    if (!isMap(node) && !isSeq(node)) throw new TypeError(`there is nothing at ${pointer}`);
    node.flow = false;
    parent = node;
  }
  return { parent: parent as Collection, key };
}

/** Sets a field or an item; comments of the old value stay. */
function setIn(parent: Collection, key: string | number, node: Node): void {
  const { commentBefore, comment } = (parent.get(key, true) ?? {}) as Partial<Node>;
  parent.set(nodeOf(key), Object.assign(node, { commentBefore, comment }));
}

/** Puts an item into a list. */
function insert(list: Collection, key: string | number, node: unknown): void {
  const [first] = list.items as Node[];
  // the package takes a comment above the first item for one of the list
  if (key === 0 && first !== undefined && list.commentBefore) {
    first.commentBefore = list.commentBefore;
    list.commentBefore = null;
  }
  (list.items as unknown[]).splice(key === '-' ? list.items.length : Number(key), 0, node);
}
