import { structuredPatch } from 'diff';
import { nodeAt, textOfYaml, writeYaml } from '../../lib/yaml.ts';
import { valueOfDocument } from '../input/locate.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { valueAt } from '../values.ts';
import { parseSource, patchObject, patchValue } from './yaml.ts';

/**
 * The changes of a document's patches, as lines of a unified diff without its header. The texts that are compared are
 * written from the parsed object, so lines that the file breaks or aligns in another way are counted as written. JSON is
 * shown as YAML.
 */
export function diffsOf(document: SourceDocument, reviewed: readonly Reviewed[]): Map<Reviewed, string[]> {
  const changed = reviewed.filter(({ verdict }) => verdict.operations.length > 0);
  if (changed.length === 0) return new Map();
  const textsOf = document.json ? jsonTexts(document) : yamlTexts(document);
  return new Map(
    changed.map((one) => {
      const [before, after] = textsOf(one);
      const comments = before.split('\n').findIndex((line) => /^\s*[^\s#]/.test(line));
      const first = document.json ? 1 : one.workload.line - comments;
      return [one, diff(before, after, first)];
    }),
  );
}

/** The object of a workload as YAML, before and after its patch. */
type Texts = (one: Reviewed) => [before: string, after: string];

function jsonTexts(document: SourceDocument): Texts {
  const value = valueOfDocument(document);
  return (one) => {
    const before = valueAt(value, one.workload.path);
    const after = structuredClone(before);
    patchValue(after, one);
    return [writeYaml(before), writeYaml(after)];
  };
}

function yamlTexts(document: SourceDocument): Texts {
  const contents = parseSource(document)?.contents ?? null;
  return (one) => {
    const before = nodeAt(contents, one.workload.path) ?? null;
    const after = before?.clone() as typeof before;
    patchObject(after, one);
    return [textOfYaml(before, document.text), textOfYaml(after, document.text)];
  };
}

/** @param first the number of the first line */
function diff(before: string, after: string, first: number): string[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 3 });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart + first - 1},${oldLines} +${newStart + first - 1},${newLines} @@`,
    ...lines,
  ]);
}
