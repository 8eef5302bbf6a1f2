import { stripVTControlCharacters } from 'node:util';

/** Wraps a text between words. A word longer than a line is not split. @param indent begins all lines but the first */
export function wrap(text: string, width: number, indent = '  '): string[] {
  // spaces at the beginning are the indent of the first line
  const [start = ''] = /^ */.exec(text) ?? [];
  const [first = '', ...words] = text.slice(start.length).split(' ');
  const lines = [start + first];
  for (const word of words) {
    const line = lines.at(-1) ?? '';
    if (columns(line) + 1 + columns(word) <= width) lines.splice(-1, 1, `${line} ${word}`);
    else lines.push(indent + word);
  }
  return lines;
}

const columns = (text: string): number => stripVTControlCharacters(text).length;
