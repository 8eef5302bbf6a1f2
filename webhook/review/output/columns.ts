import { stripVTControlCharacters } from 'node:util';

/** What a line of text has room for, in terminals and in the logs of CI systems. */
export const width = 100;

const lengthOf = (text: string): number => stripVTControlCharacters(text).length;

/**
 * A text as lines of at most {@link width} columns, broken at spaces. A word that is longer has a line of its own.
 * Colours count for nothing.
 *
 * @param indent how many columns all lines but the first are moved to the right
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

/** A text that is cut where it is longer than so many columns. */
export const cut = (text: string, columns: number): string =>
  text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
