import jsonpatch, { type Operation } from 'fast-json-patch';
import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  visit,
  type YAMLSeq,
} from 'yaml';
import { nodeAt, readYaml, writeYaml } from '../../lib/yaml.ts';
import { withoutMarker } from '../input/documents.ts';
import type { Path, Report, SourceDocument } from '../model.ts';
import { parts, relocate, valueAt } from '../values.ts';

/**
 * The YAML output: the input with the patches applied. It has all documents in their order, including ignored and
 * unreadable ones. Documents without a patch are unchanged.
 */
export function* yamlOutput(report: Report): Generator<string> {
  const byDocument = Map.groupBy(report.reviewed, (entry) => entry.workload.document);
  let before = '';
  for (const document of report.documents) {
    const operations = (byDocument.get(document) ?? []).flatMap(({ workload, decision }) =>
      relocate(decision.operations, workload.path),
    );
    let { text } = document;
    if (operations.length > 0) {
      const patched = patchable(document);
      for (const operation of operations) patched.apply(operation);
      text = patched.text();
    }
    // the first document of a file and consecutive JSON values have no marker
    if (before !== '') {
      if (!before.endsWith('\n')) yield '\n';
      if (!/^(?:---|\.\.\.)(?=\s|$)/.test(text)) yield '---\n';
    }
    yield text;
    before = text;
  }
}

/** A document of the input, to which patches are applied. */
export interface Patchable {
  /** Applies an operation whose path begins at the document. */
  apply: (operation: Operation) => void;
  /** The text of an object in the document, as it is now. */
  objectText: (path: Path) => string;
  /** The text of the document. */
  text: () => string;
}

/** Reads a document anew, to change it. */
export const patchable = (document: SourceDocument): Patchable =>
  document.json ? patchableJson(document.text) : patchableYaml(document.text);

/** A JSON document keeps its indentation. */
function patchableJson(text: string): Patchable {
  const json = withoutMarker(text);
  const value: unknown = JSON.parse(json);
  const indent = /^\s*[{[]\r?\n([ \t]+)/.exec(json)?.[1];
  return {
    // copied, because later operations change the values that became parts of it
    apply: (operation) => jsonpatch.applyOperation(value, structuredClone(operation)),
    objectText: (path) => `${JSON.stringify(valueAt(value, path), null, 2)}\n`,
    text: () => `${markerOf(text)}${JSON.stringify(value, null, indent)}\n`,
  };
}

/**
 * A YAML document keeps its values, comments and order. The package writes all of it, so spaces, braces and line breaks
 * can change. Aliases become copies, because one may stand for an object that is not patched, and so do merge keys, whose
 * maps lose their comments.
 */
function patchableYaml(text: string): Patchable {
  const yaml = withoutMarker(text);
  const [read] = readYaml(yaml.endsWith('\n') ? yaml : `${yaml}\n`);
  if (read === undefined) throw new Error('expected an object in a document that is patched');
  const source: Document<Node, boolean> = read.source;
  visit(source, { Alias: (_, alias) => alias.resolve(source)?.clone() as Node | undefined });
  visit(source, {
    Value: (_, node) => {
      delete node.anchor;
      // the package adds a line to a folded text with a line of spaces
      if (isScalar(node) && node.type === 'BLOCK_FOLDED' && /\n[ \t]+\n/.test(String(node.value)))
        node.type = 'BLOCK_LITERAL';
      const merges = isMap(node) && node.items.some(({ key }) => isScalar(key) && key.source === '<<');
      return merges ? source.createNode(node.toJS(source), copies) : undefined;
    },
  });
  // whether lists are indented in maps, and whether there is a space inside braces
  const layout = {
    indentSeq: !/^( *)[^\s#-][^\n]*:\r?\n\1- /m.test(text),
    flowCollectionPadding: /\{ +\S/.test(text),
  };
  return {
    apply: (operation) => applyTo(source, operation),
    // comments above the object are not a part of it
    objectText: (path) => writeYaml(nodeAt(source.contents, path), layout).replace(/^(?:(?:#.*)?\n)+/, ''),
    text: () => {
      const written = markerOf(text) + writeYaml(source, layout);
      return text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written;
    },
  };
}

/** Equal objects are written twice, not as an anchor and an alias. */
const copies = { aliasDuplicateObjects: false };

const markerOf = (text: string): string => (text.startsWith('---') ? '---\n' : '');

function applyTo(source: Document<Node, boolean>, operation: Operation): void {
  const path = parts(operation.path);
  const key = path.at(-1) ?? '';
  const parent = nodeAt(source.contents, path.slice(0, -1));
  if (!isCollection(parent)) throw new Error(`expected a map or list around ${operation.path}`);
  // what is added in braces would be one long line
  for (const depth of path.keys()) {
    const around = nodeAt(source.contents, path.slice(0, depth));
    if (isCollection(around)) around.flow = false;
  }
  if (operation.op === 'remove') parent.delete(key);
  else if (operation.op === 'move') {
    const moved = nodeAt(source.contents, parts(operation.from));
    source.deleteIn(parts(operation.from));
    insert(parent as YAMLSeq, key, moved);
  } else if (operation.op === 'add' || operation.op === 'replace') {
    const { op, value } = operation;
    const node = typeof value === 'object' ? source.createNode(value, copies) : value;
    if (op === 'add' && isSeq(parent)) insert(parent, key, node);
    // a text that replaces another one keeps its comment
    else parent.set(source.createNode(key), node);
  }
}

/** Inserts an item into a list. A comment above the first item stays above that item. */
function insert(list: YAMLSeq, key: string | number, item: unknown): void {
  const at = key === '-' ? list.items.length : Number(key);
  const [first] = list.items;
  if (at === 0 && isNode(first) && list.commentBefore) {
    first.commentBefore = [list.commentBefore, first.commentBefore].filter(Boolean).join('\n');
    list.commentBefore = null;
  }
  list.items.splice(at, 0, item);
}
