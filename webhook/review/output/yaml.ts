import jsonpatch from 'fast-json-patch';
import type { Node } from 'yaml';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import { expandAliases, nodeAt, parseYaml, textOfYaml, type YamlDocument } from '../../lib/yaml.ts';
import { valueOfDocument } from '../input/locate.ts';
import { withoutMarker } from '../input/split.ts';
import type { Report, Reviewed, SourceDocument } from '../model.ts';
import { nameOf } from '../model.ts';
import { valueAt } from '../values.ts';
import { patchNode } from './patch-yaml.ts';

/**
 * The YAML output: the input with the patches applied. It has all documents in their order, including ignored and
 * unreadable ones, and nothing else is changed.
 */
export function yamlOutput(report: Report): string {
  const byDocument = Map.groupBy(report.reviewed, (one) => one.workload.document);
  const texts: string[] = [];
  for (const [index, document] of report.documents.entries()) {
    const text = patchedText(document, byDocument.get(document) ?? []);
    // the first document of a file and consecutive JSON values have no marker
    if (texts.length > 0 && !document.continues && !/^(?:---|\.\.\.)(?=\s|$)/.test(text)) texts.push('---\n');
    // a part that the next part of a List continues has no newline
    const open = report.documents[index + 1]?.continues === true && !document.text.endsWith('\n');
    texts.push(open ? text.replace(/\n$/, '') : text);
  }
  return texts.join('');
}

/** The nodes of a document of YAML, without aliases; undefined if it is empty. */
export function parseSource({ text }: SourceDocument): YamlDocument | undefined {
  const [yaml] = parseYaml(withNewline(withoutMarker(text)));
  if (yaml !== undefined) expandAliases(yaml);
  return yaml;
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/**
 * The text of a document with the patches of its workloads: the text itself if there are none. Comments and the spelling
 * of values stay; aliases are replaced by copies.
 */
function patchedText(document: SourceDocument, reviewed: readonly Reviewed[]): string {
  const own = withNewline(document.text);
  const changed = reviewed.filter(({ verdict }) => verdict.operations.length > 0);
  if (changed.length === 0) return own;
  const marker = own.startsWith('---') ? '---\n' : '';
  const yaml = document.json ? undefined : parseSource(document);
  if (yaml === undefined) {
    const value = valueOfDocument(document);
    for (const one of changed) patchValue(valueAt(value, one.workload.path), one);
    return `${marker}${JSON.stringify(value, null, indentOf(own))}\n`;
  }
  for (const one of changed) patchObject(nodeAt(yaml.contents, one.workload.path), one);
  return marker + layoutOf(own, textOfYaml(yaml, own));
}

/** A text with the line ends of another, and its column: that of an item of a List that was split. */
function layoutOf(own: string, text: string): string {
  const column = /^( *)[^\s#]/m.exec(withoutMarker(own))?.[1] ?? '';
  const moved = text.replaceAll(/^(?=.)/gm, column);
  return own.includes('\r\n') ? moved.replaceAll('\n', '\r\n') : moved;
}

/** The indentation of a JSON text; undefined if it is on one line. */
const indentOf = (text: string): string | undefined => /^\s*[{[]\r?\n([ \t]+)/.exec(withoutMarker(text))?.[1];

/**
 * Applies a workload's patch to its object, in place.
 *
 * @throws CniGateError CNI_GATE_SERVER if a server's patch does not apply; patches of this process were already applied
 *   to the pod
 */
export function patchValue(object: unknown, one: Reviewed): void {
  // copied, because later operations change the values that became parts of the object
  apply(one, () => jsonpatch.applyPatch(object, structuredClone(one.verdict.operations), true, true));
}

/**
 * The same for the node of its object in a document of YAML.
 *
 * @throws CniGateError CNI_GATE_SERVER
 */
export function patchObject(node: Node | null | undefined, one: Reviewed): void {
  apply(one, () => {
    if (node === null || node === undefined) throw new TypeError('there is no such object');
    patchNode(node, one.verdict.operations);
  });
}

function apply({ workload }: Reviewed, patch: () => void): void {
  try {
    patch();
  } catch (error) {
    const first = messageOf(error).split('\n')[0];
    const message = `the patch for ${nameOf(workload)} does not apply to it: ${first}`;
    throw new CniGateError('CNI_GATE_SERVER', message);
  }
}
