import type { AddHelpTextContext, Command } from 'commander';
import { helpWidth } from './help-layout.ts';

/**
 * Adds a text below a command's help, wrapped at the terminal's width. Each line of the text is a paragraph; one that
 * begins with blanks and a word is an item, whose further lines begin below its text.
 */
export function addWrappedHelp(command: Command, text: string): Command {
  return command.addHelpText('after', ({ command: shown, error }: AddHelpTextContext) => {
    const { getOutHelpWidth, getErrHelpWidth } = shown.configureOutput();
    const columns = error ? getErrHelpWidth?.() : getOutHelpWidth?.();
    return `\n${wrapText(text, columns)}`;
  });
}

/** @param columns the terminal's width, if it is known */
export function wrapText(text: string, columns?: number): string {
  const width = helpWidth(columns, undefined);
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const hang = /^ +\S+ +/.exec(line)?.[0].length ?? 0;
  const first = line.slice(0, hang);
  let at = first;
  const lines: string[] = [];
  for (const word of line.slice(hang).split(' ')) {
    const isStart = at.trim() === '' || at === first;
    if (!isStart && at.length + 1 + word.length > width) {
      lines.push(at);
      at = ' '.repeat(hang) + word;
    } else {
      at += isStart ? word : ` ${word}`;
    }
  }
  return [...lines, at].join('\n');
}
