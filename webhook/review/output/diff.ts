import { structuredPatch } from 'diff';

/** Unchanged lines around a change. */
export const context = 3;

/**
 * The lines of a unified diff, without the two that name the texts.
 *
 * @param first the number that the first line of both texts has for the reader
 */
export function diffLines(before: string, after: string, first = 1): string[] {
  const { hunks } = structuredPatch('', '', before, after, undefined, undefined, {
    context,
    stripTrailingCr: true,
  });
  const shift = first - 1;
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart + shift},${oldLines} +${newStart + shift},${newLines} @@`,
    ...lines,
  ]);
}
