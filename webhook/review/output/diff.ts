import { structuredPatch } from 'diff';
import { nodeAt } from '../../lib/yaml.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { patched, valueAt } from '../values.ts';
import { patchable } from './yaml.ts';

/**
 * Returns what gives the change of a workload of the document, as lines of a unified diff without its header. JSON is
 * shown with a line for each value, and a YAML object in braces in lines.
 */
export function differ(document: SourceDocument): (reviewed: Reviewed) => string[] {
  let read: ReturnType<typeof patchable> | undefined;
  return ({ workload: { path, line }, decision: { operations } }) => {
    if (operations.length === 0) return [];
    read ??= patchable(document);
    const { value, yaml } = read;
    const before = valueAt(value, path);
    const after = patched(before, operations);
    const node = yaml && nodeAt(yaml.root, path);
    const texts = node ? yaml.splice.lines(node, before, after) : ([toJson(before), toJson(after)] as const);
    return diff(...texts, line);
  };
}

const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

/** @param first the number of the first line */
function diff(before: string, after: string, first: number): string[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, { context: 3 });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart + first - 1},${oldLines} +${newStart + first - 1},${newLines} @@`,
    ...lines,
  ]);
}
