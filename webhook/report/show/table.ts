import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import type { ClusterIdentity } from '../observe/observe.ts';

/** How text is laid out and coloured. */
export interface TextOptions {
  /** The maximum length of a line; without it, each row of a table is one line. */
  width?: number;
  /** Colours a text; absent where the output has no colours. */
  paint?: Paint;
}

/** Applies one of these styles of `styleText` (node:util) to a text. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'green', text: string) => string;

/** Returns the text unchanged, for output without colours. */
export const plain: Paint = (_style, text) => text;

/**
 * One line that names the cluster of an output, and the versions of cni-gate.
 *
 * @param isGone whether cni-gate is certainly not installed
 */
export function clusterText(
  { context, server, clientVersion, serverVersion }: ClusterIdentity,
  isGone: boolean,
): string {
  const where = context === null ? 'service account of the pod' : `context ${context}`;
  const version = serverVersion ?? (isGone ? 'not installed' : 'not known');
  return `Cluster: ${server} (${where}). cni-gate: client ${clientVersion}, server ${version}`;
}

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

/** The content of a cell; null and an empty text are shown as `-`. */
export type Cell = string | null;

export interface Table {
  head: string[];
  rows: Cell[][];
}

/** In each table, the column with one of these heads and those after it contain sentences. */
const sentences: ReadonlySet<string> = new Set(['FAULT', 'WHAT', 'WHY']);

/**
 * A table as kubectl prints it, with one line for the head and one for each row. If a line is longer than `width`, the
 * columns with sentences go below the rows. Nothing is truncated, so that names can be copied.
 */
export function layTable({ head, rows }: Table, width: number): string[] {
  const lines = [head, ...rows.map((row) => row.map((cell) => clean(cell || '-')))];
  const whole = aligned(lines);
  const columns = head.findIndex((name) => sentences.has(name));
  if (columns < 0 || whole.every((line) => line.length <= width)) return whole;
  const short = aligned(lines.map((line) => line.slice(0, columns)));
  const below = (line: readonly string[]): string[] =>
    line.slice(columns).flatMap((text, at) => {
      const indent = '    ';
      const name = head.length - columns > 1 ? `${head[columns + at]?.toLowerCase()}: ` : '';
      return text === '-' ? [] : wrap(indent + name + text, width, `${indent}  `);
    });
  return lines.flatMap((line, index) => [
    ...(columns > 0 ? [short[index] ?? ''] : []),
    ...(index === 0 ? [] : below(line)),
  ]);
}

/** Pads cells so that the columns are aligned, and removes blanks at the end of lines. */
function aligned(lines: readonly (readonly string[])[]): string[] {
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const laid = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
  return laid.map((line) => line.trimEnd());
}
