import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import type { ClusterIdentity } from '../observe/observe.ts';

/** How a text looks. */
export interface TextOptions {
  /** Characters of a line; absent: without a limit, so that each row of a table is one line. */
  width?: number;
  /** Sets a text off; absent: where there are no colours. */
  paint?: Paint;
}

/** Sets a text off by a style that `styleText` of node:util knows. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;

/** Without colours. */
export const plain: Paint = (_style, text) => text;

/**
 * Which cluster an output is about, in one line.
 *
 * @param isGone whether it is known that cni-gate is not installed
 */
export function clusterText(
  { context, server, clientVersion, serverVersion }: ClusterIdentity,
  isGone: boolean,
): string {
  const where = context === null ? 'service account of the pod' : `context ${context}`;
  const version = serverVersion ?? (isGone ? 'not installed' : 'not known');
  return `Cluster: ${server} (${where}). cni-gate: client ${clientVersion}, server ${version}`;
}

/** Seconds of each unit, the largest first. */
const units = { y: 365 * 86_400, d: 86_400, h: 3600, m: 60, s: 1 };

/**
 * An age in its largest unit of which there are two, as `kubectl get` writes most ages: `45s`, `12m`, `5h`, `3d`. Times
 * to come, as by a clock that is ahead, read `0s`.
 */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [unit, size] = Object.entries(units).find(([, length]) => seconds >= 2 * length) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** What a cell shows; null and an empty text show as `-`. */
export type Cell = string | null;

/**
 * A table with one line for its head and for each row, as kubectl writes it. Where a row is wider than asked, its last
 * columns, which hold sentences, go below the row. Nothing is cut: names are there to be copied.
 *
 * @param width characters of a line
 * @param sentences how many of the last columns hold sentences
 */
export function layTable(
  head: readonly string[],
  rows: readonly Cell[][],
  width: number,
  sentences: number,
): string[] {
  const lines = [head, ...rows.map((row) => row.map((cell) => clean(cell || '-')))];
  const whole = aligned(lines);
  if (whole.every((line) => line.length <= width) || sentences === 0) return whole;
  const columns = head.length - sentences;
  const short = aligned(lines.map((line) => line.slice(0, columns)));
  const below = (line: readonly string[]): string[] =>
    line.slice(columns).flatMap((text, at) => {
      const indent = '    ';
      const name = sentences > 1 ? `${head[columns + at]?.toLowerCase()}: ` : '';
      return text === '-' ? [] : wrap(indent + name + text, width, `${indent}  `);
    });
  return lines.flatMap((line, index) => [
    ...(columns > 0 ? [short[index] ?? ''] : []),
    ...(index === 0 ? [] : below(line)),
  ]);
}

/** Lines whose cells stand below each other. Blanks at the end are not written. */
function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const laid = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return laid.map((line) => line.trimEnd());
}
