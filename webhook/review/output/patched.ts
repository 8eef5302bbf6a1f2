import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import jsonpatch from 'fast-json-patch';
import { writeYaml } from '../../lib/yaml.ts';
import { parsed } from '../input/documents.ts';
import type { Report, Reviewed, SourceDocument } from '../model.ts';
import { valueAt } from '../values.ts';

/**
 * The YAML output: the input with the patches applied. It contains all documents in their order, including ignored and
 * unreadable ones. Documents without a patch are unchanged; patched ones are written from their values, so they lose
 * comments, as with the injectors of meshes.
 */
export function* yamlOutput(report: Report): Generator<string> {
  const byDocument = Map.groupBy(report.reviewed, (entry) => entry.workload.document);
  let before = '';
  for (const document of report.documents) {
    const text = patchedText(document, byDocument.get(document) ?? []);
    // adds `---` before a document that has none: the first of a file, and any JSON value
    if (before !== '') {
      if (!before.endsWith('\n')) yield '\n';
      if (!/^---(?=\s|$)/.test(text)) yield '---\n';
    }
    yield text;
    before = text;
  }
}

function patchedText(document: SourceDocument, reviewed: readonly Reviewed[]): string {
  if (reviewed.every(({ decision }) => decision.operations.length === 0)) return document.text;
  // a copy, in which no alias shares an object
  const value: unknown = jsonpatch.deepClone(parsed(document).value);
  for (const { workload, decision } of reviewed)
    jsonpatch.applyPatch(valueAt(value, workload.path), jsonpatch.deepClone(decision.operations));
  return written(document, value);
}

/** The lines of a unified diff of a workload's object. Both sides are written from values. */
export function diffOf({ workload, decision }: Reviewed): string[] {
  const { document, path } = workload;
  const object = valueAt(parsed(document).value, path);
  const operations = jsonpatch.deepClone(decision.operations);
  const { newDocument } = jsonpatch.applyPatch(object, operations, false, false);
  const [before, after] = [object, newDocument].map((value) => written(document, value));
  const { file } = document;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const names = [file, `${file} as admitted`] as const;
  return createTwoFilesPatch(...names, before ?? '', after ?? '', undefined, undefined, options).split('\n');
}

const written = ({ json }: SourceDocument, value: unknown): string =>
  json ? `${JSON.stringify(value, null, 2)}\n` : writeYaml(value);
