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
