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
  return `Cluster: ${server} (${where}). cni-gate: client ${clientVersion}, server ${serverVersion ?? (isGone ? 'not installed' : 'not known')}`;
}

/** Seconds of each unit, the largest first. */
const units = { y: 365 * 86_400, d: 86_400, h: 3600, m: 60, s: 1 };

/**
 * An age in its largest unit of which there are two, as `kubectl get` writes most ages: `45s`, `12m`, `5h`, `3d`. Times
 * to come, as by a clock that is ahead, read `0s`.
 *
 * @param milliseconds how long ago
 */
export function ageText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [unit, size] = Object.entries(units).find(([, one]) => seconds >= 2 * one) ?? ['s', 1];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** What a cell shows; null and an empty text show as `-`. */
export type Cell = string | null;

/** Between columns. */
const gap = '  ';
/** Before what belongs to the row above. */
const indent = '    ';

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
  const lines = [head, ...rows.map((row) => row.map((cell) => cell || '-'))];
  const whole = aligned(lines);
  if (whole.every((line) => line.length <= width) || sentences === 0) return whole;
  const columns = head.length - sentences;
  const names = head.slice(columns).map((name) => name.toLowerCase());
  const short = aligned(lines.map((line) => line.slice(0, columns)));
  return lines.flatMap((line, index) => [
    ...(columns > 0 ? [short[index] ?? ''] : []),
    ...(index === 0 ? [] : below(line.slice(columns), names, width)),
  ]);
}

/** Lines whose cells stand below each other. Blanks at the end are not written. */
function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const line of lines)
    for (const [at, cell] of line.entries()) widths[at] = Math.max(cell.length, widths[at] ?? 0);
  const laid = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(gap));
  return laid.map((line) => line.trimEnd());
}

/** Sentences, each on lines of its own, with its column's name before it where there are several. */
function below(sentences: readonly string[], names: readonly string[], width: number): string[] {
  return sentences.flatMap((text, at) => {
    if (text === '-') return [];
    const name = names.length > 1 ? `${names[at]}: ` : '';
    return wrap(indent + name + text, width, `${indent}  `);
  });
}
