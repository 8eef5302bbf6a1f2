/** What a cell shows; null and an empty text show as `-`. */
export type Cell = string | null;

/** Sets a text off, such as by a colour: what it returns looks as wide as what it was given. */
export type Emphasis = (text: string, column: string) => string;

/** How a table is laid out. */
export interface TableOptions {
  /** Characters of a line. */
  width: number;
  /** How many of the last columns hold sentences. */
  sentences: number;
  /** For each cell, and for the head where the text is the column's name. */
  emphasis: Emphasis;
}

/** Between columns. */
const gap = '  ';
/** Before what belongs to the row above. */
const indent = '    ';

/** A sentence is broken within its column where that is at least this wide. */
const leastColumn = 50;

/**
 * A table with one line for its head and for each row, as kubectl writes it, and with its sentences within the width: where
 * a row is wider, its sentence is broken within its column or goes below the row. Nothing is cut: names are there to be
 * copied.
 */
export function layTable(
  head: readonly string[],
  rows: readonly Cell[][],
  { width, sentences, emphasis }: TableOptions,
): string[] {
  const filled = rows.map((row) => row.map((cell) => cell || '-'));
  const widths = head.map((name, at) =>
    filled.reduce((max, row) => Math.max(max, row[at]?.length ?? 0), name.length),
  );
  const columns = [...head.keys()];
  const line = (row: readonly string[], some: readonly number[]): string =>
    lineOf(row, some, head, widths, emphasis);
  if (lineWidth(columns, widths) <= width) return [head, ...filled].map((row) => line(row, columns));

  const plain = columns.slice(0, head.length - sentences);
  const before = plain.length === 0 ? 0 : lineWidth(plain, widths) + gap.length;
  if (sentences === 1 && (before === 0 || width - before >= leastColumn)) {
    const last = plain.length;
    return [head, ...filled].flatMap((row) => {
      const [first = '', ...more] = wrap(row[last] ?? '', width - before, before === 0 ? '  ' : '');
      const name = head[last] ?? '';
      return [
        line(row.with(last, first), columns),
        ...more.map((text) => ' '.repeat(before) + emphasis(text, name)),
      ];
    });
  }
  const below = columns.slice(plain.length);
  return [head, ...filled].flatMap((row) => [
    line(row, plain),
    ...(row === head ? [] : below.flatMap((at) => sentenceBelow(row[at] ?? '', head[at] ?? ''))),
  ]);

  /** It has its column's name before it where there are several. */
  function sentenceBelow(text: string, name: string): string[] {
    if (text === '-') return [];
    const columnsShown = sentences > 1 ? `${name.toLowerCase()}: ${text}` : text;
    return wrap(indent + columnsShown, width, `${indent}  `).map((part) => emphasis(part, name));
  }
}

const lineWidth = (columns: readonly number[], widths: readonly number[]): number =>
  columns.reduce((sum, at) => sum + (widths[at] ?? 0) + gap.length, -gap.length);

/** Some cells of a row, each as wide as its column. Blanks at the end are not written, nor set off. */
function lineOf(
  row: readonly string[],
  columns: readonly number[],
  head: readonly string[],
  widths: readonly number[],
  emphasis: Emphasis,
): string {
  return columns
    .map((at, place) => {
      const text = row[at] ?? '';
      const rest = place === columns.length - 1 ? '' : ' '.repeat((widths[at] ?? 0) - text.length);
      return emphasis(text, head[at] ?? '') + rest;
    })
    .join(gap);
}

/**
 * Breaks a text between words, so that no line is wider than asked; a word that is wider stays whole, as it is mostly
 * a name that somebody copies.
 *
 * @param width characters of a line
 * @param indent what lines after the first begin with
 */
export function wrap(text: string, width: number, indent = '  '): string[] {
  if (text.length <= width) return [text];
  // blanks at the begin are the first line's own indent
  const [start = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = start;
  let isEmpty = true;
  for (const word of text.slice(start.length).split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line += isEmpty ? word : ` ${word}`;
    }
    isEmpty = false;
  }
  return [...lines, line];
}
