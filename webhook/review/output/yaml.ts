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
import { segments } from '../../config/parse.ts';
import { nodeAt, readYaml, writeYaml } from '../../lib/yaml.ts';
import { withoutMarker } from '../input/documents.ts';
import type { Path, Report, SourceDocument } from '../model.ts';
import { relocate, valueAt } from '../values.ts';

/**
 * The YAML output: the input with the patches applied. It contains all documents in their order, including ignored and
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
    // adds `---` before a document that has none: the first of a file, and any JSON value
    if (before !== '') {
      if (!before.endsWith('\n')) yield '\n';
      if (!/^(?:---|\.\.\.)(?=\s|$)/.test(text)) yield '---\n';
    }
    yield text;
    before = text;
  }
}

/** A document of the input, to which patches can be applied. */
export interface Patchable {
  /** Applies an operation whose path begins at the document. */
  apply: (operation: Operation) => void;
  /** The current text of an object in the document. */
  objectText: (path: Path) => string;
  /** The current text of the document. */
  text: () => string;
}

/** Parses a document again, so that its values may be changed. */
export const patchable = (document: SourceDocument): Patchable =>
  document.json ? patchableJson(document.text) : patchableYaml(document.text);

/** Applies patches to a JSON document, and keeps its indentation. */
function patchableJson(text: string): Patchable {
  const json = withoutMarker(text);
  const value: unknown = JSON.parse(json);
  const indent = /^\s*[{[]\r?\n([ \t]+)/.exec(json)?.[1];
  return {
    apply: (operation) => jsonpatch.applyOperation(value, operation),
    objectText: (path) => `${JSON.stringify(valueAt(value, path), null, 2)}\n`,
    text: () => `${markerOf(text)}${JSON.stringify(value, null, indent)}\n`,
  };
}

/**
 * Applies patches to a YAML document, and keeps its values, comments and order. The `yaml` package writes the whole
 * document again, so spaces, braces and line breaks can change. Aliases and merge keys are replaced by copies, because
 * they may refer to an object that is not patched; maps with a merge key lose their comments.
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
      // `yaml` adds a line to a folded block with a line of only blanks, which would change its value
      if (isScalar(node) && node.type === 'BLOCK_FOLDED' && /\n[ \t]+\n/.test(String(node.value)))
        node.type = 'BLOCK_LITERAL';
      const merges = isMap(node) && node.items.some(({ key }) => isScalar(key) && key.source === '<<');
      return merges ? source.createNode(node.toJS(source), copies) : undefined;
    },
  });
  // the input's layout: whether lists in maps are indented, and whether braces have a space inside
  const layout = {
    indentSeq: !/^( *)[^\s#-][^\n]*:\r?\n\1- /m.test(text),
    flowCollectionPadding: /\{ +\S/.test(text),
  };
  return {
    apply: (operation) => applyTo(source, operation),
    // the comments above an object do not belong to it
    objectText: (path) => writeYaml(nodeAt(source.contents, path), layout).replace(/^(?:(?:#.*)?\n)+/, ''),
    text: () => {
      const written = markerOf(text) + writeYaml(source, layout);
      return text.includes('\r\n') ? written.replaceAll('\n', '\r\n') : written;
    },
  };
}

/** Writes an object in full at each place where it occurs, instead of as an anchor and an alias. */
const copies = { aliasDuplicateObjects: false };

const markerOf = (text: string): string => (text.startsWith('---') ? '---\n' : '');

function applyTo(source: Document<Node, boolean>, operation: Operation): void {
  const path = segments(operation.path);
  const key = path.at(-1) ?? '';
  const parent = nodeAt(source.contents, path.slice(0, -1));
  if (!isCollection(parent)) throw new Error(`expected a map or list around ${operation.path}`);
  // block style, because `yaml` would write an added value inside braces on one long line
  for (const depth of path.keys()) {
    const around = nodeAt(source.contents, path.slice(0, depth));
    if (isCollection(around)) around.flow = false;
  }
  if (operation.op === 'remove') parent.delete(key);
  else if (operation.op === 'move') {
    const moved = nodeAt(source.contents, segments(operation.from));
    source.deleteIn(segments(operation.from));
    insert(parent as YAMLSeq, key, moved);
  } else if (operation.op === 'add' || operation.op === 'replace') {
    const { op, value } = operation;
    const node = typeof value === 'object' ? source.createNode(value, copies) : value;
    if (op === 'add' && isSeq(parent)) insert(parent, key, node);
    // `set`, because it keeps the comment of the value that it replaces, and a new pair would not
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
