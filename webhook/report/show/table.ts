import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';

/** Applies one of these styles of `styleText` (node:util) to a text. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;

/** Returns the text unchanged, for output without colours. */
export const plain: Paint = (_style, text) => text;

/** The seconds in each unit, the largest unit first. */
const units = { y: 365 * 86_400, d: 86_400, h: 3600, m: 60, s: 1 };

/**
 * An age in the largest unit of which there are at least two, like most ages of `kubectl get`: `45s`, `12m`, `5h`,
 * `3d`. A time in the future, from a clock that is ahead, reads `0s`.
 */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [unit, size] = Object.entries(units).find(([, length]) => seconds >= 2 * length) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

/**
 * A table as kubectl prints it, without empty columns. If a line is longer than `width`, the last cell of
 * each row, which has sentences, is printed below the row. Nothing is truncated, so that names can be copied.
 */
export function layTable(rows: readonly Record<string, string>[], width: number): string[] {
  const names = Object.keys(rows[0] ?? {});
  const head = names.filter((name) => rows.some((row) => row[name]));
  const lines = [head, ...rows.map((row) => head.map((name) => clean(row[name] || '-')))];
  const whole = aligned(lines);
  if (head.at(-1) !== names.at(-1) || whole.every((line) => line.length <= width)) return whole;
  const below = lines.map((line, at) => (at === 0 ? [] : wrap(`  ${line.at(-1)}`, width, '    ')));
  return aligned(lines.map((line) => line.slice(0, -1))).flatMap((line, at) => [line, ...(below[at] ?? [])]);
}

/** Pads cells so that the columns are aligned, and removes blanks at the end of lines. */
function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const laid = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return laid.map((line) => line.trimEnd());
}
