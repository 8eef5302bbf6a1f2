import { stripVTControlCharacters } from 'node:util';

/** The width of a line in terminals and in the logs of CI systems. */
export const width = 100;

const lengthOf = (text: string): number => stripVTControlCharacters(text).length;

/**
 * Wraps a text at spaces to lines of at most {@link width} columns. A longer word gets its own line. Colours do not
 * count.
 *
 * @param indent the indentation of all lines but the first
 */
export function wrap(text: string, indent = 0): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=\S) +/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && lengthOf(longer) > width) {
      lines.push(line);
      line = ' '.repeat(indent) + word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}

/** Cuts a text that is longer than this many columns. */
export const cut = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
