import { isDeepStrictEqual as same } from 'node:util';
import jsonpatch from 'fast-json-patch';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import { valueOfDocument, valueOfText } from '../input/locate.ts';
import { withoutMarker } from '../input/split.ts';
import { nodeAt, parseYaml, writeYaml } from '../input/yaml.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { nameOf } from '../name.ts';
import { valueAt, wireCopy } from '../values.ts';
import { YamlError } from '../yaml/tokens.ts';
import { expandAliases } from './edit/expand.ts';
import { applyEdits, CannotEdit, type Edit, Source } from './edit/source.ts';
import { valueEdits } from './edit/value.ts';

/** A document with its workloads patched. */
export interface PatchedDocument {
  /** The text with the patches. */
  text: string;
  /** The edited text: the document's own, or an equivalent one without aliases. */
  before: string;
  /** The edits of each workload, as offsets of `before`; undefined if the document was rewritten. */
  edits: Map<Reviewed, Edit[]> | undefined;
}

/**
 * Applies the patches of a document's workloads to its text, and leaves every other character unchanged. The result is
 * parsed again. If it differs from the patched value, because an alias shares the text, the edits are made in a copy
 * without aliases. If that fails too, the document is rewritten from its value.
 */
export function patchDocument(document: SourceDocument, reviewed: readonly Reviewed[]): PatchedDocument {
  const own = document.text.endsWith('\n') ? document.text : `${document.text}\n`;
  const changed = reviewed.filter(({ verdict }) => verdict.operations.length > 0);
  if (changed.length === 0) return { before: own, text: own, edits: new Map() };
  const value = valueOfDocument(document);
  const values = { before: wireCopy(value), after: patchedValue(wireCopy(value), changed) };
  // of the same length, so that offsets do not change
  const text = withoutMarker(own);
  const { json } = document;
  const edits = attempt(text, changed, values, json);
  if (edits !== undefined) return patched(own, edits);
  const marker = own.startsWith('---') ? '---\n' : '';
  if (json)
    return { before: own, text: `${marker}${JSON.stringify(values.after, null, 2)}\n`, edits: undefined };
  const plain = withoutAliases(text);
  const plainEdits = plain === undefined ? undefined : attempt(plain, changed, values, json);
  if (plain !== undefined && plainEdits !== undefined) {
    const result = patched(plain, plainEdits);
    return { ...result, text: marker + result.text };
  }
  return { before: own, text: marker + writeYaml(values.after), edits: undefined };
}

const patched = (before: string, edits: Map<Reviewed, Edit[]>): PatchedDocument => ({
  before,
  text: applyEdits(before, [...edits.values()].flat()),
  edits,
});

/** A document's value with the patches applied, in place. */
function patchedValue(value: unknown, changed: readonly Reviewed[]): unknown {
  for (const one of changed) applyTo(valueAt(value, one.workload.path), one);
  return value;
}

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

interface Values {
  before: unknown;
  after: unknown;
}

/** Edits by workload, or undefined if the edited text has another value than the patched one. */
function attempt(
  text: string,
  changed: readonly Reviewed[],
  values: Values,
  json: boolean,
): Map<Reviewed, Edit[]> | undefined {
  try {
    const root = parseYaml(text, json);
    if (root === undefined) return undefined;
    const source = new Source(text, root);
    const edits = new Map(changed.map((one) => [one, editsOf(source, one, values)] as const));
    const result = applyEdits(text, [...edits.values()].flat());
    return same(wireCopy(valueOfText(result, json)), values.after) ? edits : undefined;
  } catch (error) {
    // JSON allows layouts that YAML does not, such as a colon on its own line
    if (error instanceof CannotEdit || error instanceof YamlError) return undefined;
    throw error;
  }
}

function editsOf(source: Source, { workload }: Reviewed, values: Values): Edit[] {
  const path = [...workload.path, ...workload.podPath];
  const node = nodeAt(source.root, path);
  if (node === undefined) throw new CannotEdit('the template has no text of its own');
  return valueEdits(source, node, valueAt(values.before, path), valueAt(values.after, path));
}

function withoutAliases(text: string): string | undefined {
  try {
    return expandAliases(text);
  } catch (error) {
    if (error instanceof CannotEdit) return undefined;
    throw error;
  }
}
