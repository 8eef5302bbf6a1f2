import { structuredPatch } from 'diff';
import { Lines } from '../input/lines.ts';
import { valueOfDocument } from '../input/locate.ts';
import { writeYaml } from '../input/yaml.ts';
import type { Reviewed, SourceDocument } from '../model.ts';
import { valueAt, wireCopy } from '../values.ts';
import { applyEdits, type Edit } from './edit/source.ts';
import { applyTo, patchDocument } from './patched.ts';

/**
 * The changes of a document's patches, as lines of a unified diff without its header. For YAML, these are the lines of
 * the file with their numbers; JSON is shown as YAML written from the object.
 */
export function diffsOf(document: SourceDocument, reviewed: readonly Reviewed[]): Map<Reviewed, string[]> {
  const changed = reviewed.filter(({ verdict }) => verdict.operations.length > 0);
  if (changed.length === 0) return new Map();
  const patched = document.json ? undefined : patchDocument(document, changed);
  const lines = new Lines(patched?.before ?? '', document.start);
  return new Map(
    changed.map((one) => {
      const edits = patched?.edits?.get(one);
      const diff = patched && edits ? diffOfText(patched.before, edits, lines) : diffOfValue(document, one);
      return [one, diff] as const;
    }),
  );
}

function diffOfText(text: string, edits: readonly Edit[], lines: Lines): string[] {
  const start = linesAway(text, Math.min(...edits.map((edit) => edit.start)), -context);
  const end = linesAway(text, Math.max(...edits.map((edit) => edit.end)), context);
  const moved = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
  const before = text.slice(start, end);
  return diffLines(before, applyEdits(before, moved), lines.at(start).line);
}

/** The beginning of a line some lines above an offset, or the end of one some lines below it. */
function linesAway(text: string, offset: number, count: number): number {
  let at = offset;
  for (let left = Math.abs(count); left >= 0; left -= 1) {
    if (count < 0) {
      at = text.lastIndexOf('\n', at - 1);
      if (at < 0) return 0;
    } else {
      const next = text.indexOf('\n', at);
      if (next < 0) return text.length;
      at = next + 1;
    }
  }
  return count < 0 ? at + 1 : at;
}

function diffOfValue(document: SourceDocument, one: Reviewed): string[] {
  const before = valueAt(valueOfDocument(document), one.workload.path);
  const after = wireCopy(before);
  applyTo(after, one);
  return diffLines(writeYaml(before), writeYaml(after), 1);
}

/** Unchanged lines around a change. */
export const context = 3;

/**
 * The lines of a unified diff, without the two that name the texts.
 *
 * @param first the line number of the first line of both texts
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
