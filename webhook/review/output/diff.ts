import { structuredPatch } from 'diff';
import { nodeAt, nodeOf, writeYaml } from '../../lib/yaml.ts';
import { parsed } from '../input/documents.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { valueAt } from '../values.ts';
import { nodesOf, patchNode } from './yaml.ts';

/**
 * The changes of a document's patches, as lines of a unified diff without its header. The texts that are compared are
 * written from the parsed object, so lines that the file breaks or aligns in another way are counted as written. JSON is
 * shown as YAML.
 */
export function diffsOf(document: SourceDocument, reviewed: readonly Reviewed[]): Map<Reviewed, string[]> {
  const changed = reviewed.filter(({ decision }) => decision.operations.length > 0);
  if (changed.length === 0) return new Map();
  const contents = document.json ? null : (nodesOf(document)?.contents ?? null);
  return new Map(
    changed.map((one) => {
      const { path, line } = one.workload;
      const before = document.json ? nodeOf(valueAt(parsed(document).value, path)) : nodeAt(contents, path);
      const after = before?.clone() as typeof before;
      patchNode(after, one);
      const text = writeYaml(before, document.text);
      const comments = text.split('\n').findIndex((each) => /^\s*[^\s#]/.test(each));
      return [one, diff(text, writeYaml(after, document.text), line - comments)];
    }),
  );
}

/** @param first the number of the first line */
function diff(before: string, after: string, first: number): string[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 3 });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart + first - 1},${oldLines} +${newStart + first - 1},${newLines} @@`,
    ...lines,
  ]);
}
