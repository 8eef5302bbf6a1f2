import { Lines } from '../input/lines.ts';
import { applyEdits, type Edit } from './edits.ts';

/** Unchanged lines around a change. */
const context = 3;

/** Lines of a text that others replace. */
interface Change {
  /** The index of the first line, and the one after the last. */
  from: number;
  to: number;
  lines: string[];
}

/**
 * Edits of a text as the lines of a unified diff, without the two that name the texts. Only the lines around the edits
 * are looked at.
 *
 * @param places the lines of the text, with the number of the first one
 */
export function hunksOf(text: string, edits: readonly Edit[], places: Lines): string[] {
  const start = linesAway(text, Math.min(...edits.map((edit) => edit.start)), -context);
  const end = linesAway(text, Math.max(...edits.map((edit) => edit.end)), context);
  const moved = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
  const part = text.slice(start, end);
  const before = linesOf(part);
  const hunks: Change[][] = [];
  for (const change of changesOf(part, moved, before)) {
    const last = hunks.at(-1)?.at(-1);
    if (last !== undefined && change.from - last.to <= 2 * context) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  const { line: first } = places.at(start);
  let added = 0;
  return hunks.flatMap((changes) => {
    const [from, to] = [(changes[0]?.from ?? 0) - context, (changes.at(-1)?.to ?? 0) + context];
    const [head, tail] = [Math.max(0, from), Math.min(before.length, to)];
    const lines: string[] = [];
    let at = head;
    for (const change of changes) {
      lines.push(...before.slice(at, change.from).map((line) => ` ${line}`));
      lines.push(...before.slice(change.from, change.to).map((line) => `-${line}`));
      lines.push(...change.lines.map((line) => `+${line}`));
      at = change.to;
    }
    lines.push(...before.slice(at, tail).map((line) => ` ${line}`));
    const [old, now] = ['-', '+'].map(
      (sign) => lines.filter((line) => line[0] === ' ' || line[0] === sign).length,
    );
    const header = `@@ -${first + head},${old} +${first + head + added},${now} @@`;
    added += (now ?? 0) - (old ?? 0);
    return [header, ...lines];
  });
}

const linesOf = (text: string): string[] => text.replace(/\r?\n$/, '').split(/\r?\n/);

/** The lines that edits change, in order; edits of the same lines are one change. */
function changesOf(text: string, edits: readonly Edit[], before: readonly string[]): Change[] {
  const places = new Lines(text, 0);
  const lineOf = (offset: number): number => places.at(offset).line;
  const groups: { from: number; to: number; edits: Edit[] }[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const from = lineOf(edit.start);
    const wholeLines = edit.end === 0 || text[edit.end - 1] === '\n';
    const to = lineOf(edit.end) + (wholeLines ? 0 : 1);
    const last = groups.at(-1);
    if (last !== undefined && from <= last.to) {
      last.to = Math.max(last.to, to);
      last.edits.push(edit);
    } else groups.push({ from, to, edits: [edit] });
  }
  return groups.map(({ from, to, edits: own }) => {
    const [start, end] = [places.startOf(from), places.startOf(to) ?? text.length];
    const moved = own.map((edit) => ({
      ...edit,
      start: edit.start - (start ?? 0),
      end: edit.end - (start ?? 0),
    }));
    const after = applyEdits(text.slice(start, end), moved);
    return trimmed({ from, to, lines: after === '' ? [] : linesOf(after) }, before);
  });
}

/** A change without the lines that are equal before and after it. */
function trimmed({ from, to, lines }: Change, before: readonly string[]): Change {
  let [start, end] = [from, to];
  let [first, last] = [0, lines.length];
  while (start < end && first < last && before[start] === lines[first])
    [start, first] = [start + 1, first + 1];
  while (start < end && first < last && before[end - 1] === lines[last - 1])
    [end, last] = [end - 1, last - 1];
  return { from: start, to: end, lines: lines.slice(first, last) };
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
