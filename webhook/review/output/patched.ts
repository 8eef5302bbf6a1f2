import { isDeepStrictEqual as same } from 'node:util';
import jsonpatch from 'fast-json-patch';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import {
  nodeAt,
  parseYaml,
  valueOfYaml,
  writeWithoutAliases,
  writeYaml,
  type YamlDocument,
  YamlError,
} from '../../lib/yaml.ts';
import { valueOfDocument } from '../input/locate.ts';
import { withoutMarker } from '../input/split.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { nameOf } from '../name.ts';
import { valueAt, wireCopy } from '../values.ts';
import { applyEdits, type Edit, editsBetween } from './edits.ts';

/** The text of a document, and what was parsed from it. */
interface Source {
  text: string;
  yaml: YamlDocument;
  value: unknown;
}

/** A document of YAML, parsed again; undefined if it is empty. */
export const sourceOf = ({ text }: SourceDocument): Source | undefined => parsed(withNewline(text));

function parsed(text: string): Source | undefined {
  // of the same length, so that offsets do not change
  const [yaml] = parseYaml(withoutMarker(text));
  return yaml && { text, yaml, value: valueOfYaml(yaml) };
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** The edits of a workload's patch; undefined if its template has no text of its own, because it is an alias. */
export function editsIn({ text, yaml, value }: Source, one: Reviewed): Edit[] | undefined {
  const { path, podPath } = one.workload;
  const node = nodeAt(yaml.contents, [...path, ...podPath]);
  if (node === undefined) return undefined;
  const before = wireCopy(valueAt(value, path));
  const after = structuredClone(before);
  applyTo(after, one);
  return editsBetween(text, node, valueAt(before, podPath), valueAt(after, podPath));
}

/**
 * The text of a document with the patches of its workloads. Lines that they do not change stay. The result is parsed
 * again. If it differs from the patched value, because an alias shares the text, the document is written without
 * aliases. JSON is written from the value.
 */
export function patchedText(document: SourceDocument, reviewed: readonly Reviewed[]): string {
  const own = withNewline(document.text);
  const changed = reviewed.filter(({ verdict }) => verdict.operations.length > 0);
  if (changed.length === 0) return own;
  const source = document.json ? undefined : parsed(own);
  const after = source === undefined ? valueOfDocument(document) : wireCopy(source.value);
  for (const one of changed) applyTo(valueAt(after, one.workload.path), one);
  const marker = own.startsWith('---') ? '---\n' : '';
  if (source === undefined) return `${marker}${JSON.stringify(after, null, indentOf(own))}\n`;
  const edited = editedText(() => source, changed, after);
  if (edited !== undefined) return edited;
  const plain = editedText(() => parsed(writeWithoutAliases(source.yaml)), changed, after);
  return marker + (plain ?? writeYaml(after));
}

/** The edited text; undefined if its value is not the wanted one. */
function editedText(
  read: () => Source | undefined,
  changed: readonly Reviewed[],
  wanted: unknown,
): string | undefined {
  try {
    const source = read();
    const edits = changed.map((one) => source && editsIn(source, one));
    if (source === undefined || edits.includes(undefined)) return undefined;
    const text = applyEdits(
      source.text,
      edits.flatMap((one) => one ?? []),
    );
    return same(wireCopy(parsed(text)?.value), wanted) ? text : undefined;
  } catch (error) {
    // an edit that does not fit the layout of the text
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

/** The indentation of a JSON text; undefined if it is on one line. */
const indentOf = (text: string): string | undefined => /^\s*[{[]\r?\n([ \t]+)/.exec(withoutMarker(text))?.[1];

/**
 * Applies a workload's patch to its object, in place.
 *
 * @throws CniGateError CNI_GATE_SERVER if a server's patch does not apply; patches of this process were already applied
 *   to the pod
 */
export function applyTo(object: unknown, { workload, verdict }: Reviewed): void {
  try {
    // copied, because later operations change the values that became parts of the object
    jsonpatch.applyPatch(object, structuredClone(verdict.operations), true, true);
  } catch (error) {
    const first = messageOf(error).split('\n')[0];
    throw new CniGateError(
      'CNI_GATE_SERVER',
      `the patch for ${nameOf(workload)} does not apply to it: ${first}`,
    );
  }
}
