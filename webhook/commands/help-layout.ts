import { type Command, Help } from 'commander';

/** The width of a terminal that does not tell it, and of a file. */
const defaultWidth = 80;
/** Longer lines are hard to read. */
const widest = 100;
/** Options and their texts need so much. */
const narrowest = 60;

/**
 * The width at which help is wrapped: that of COLUMNS, as for man, or of the terminal, within what can be read.
 *
 * @param columns of the terminal; undefined for a file
 * @param asked the variable COLUMNS
 */
export function helpWidth(columns: number | undefined, asked: string | undefined): number {
  const named = /^[1-9]\d*$/.test(asked ?? '') ? Number(asked) : undefined;
  // some terminals do not tell how wide they are, and read as 0
  return Math.max(narrowest, Math.min(widest, named ?? (columns || defaultWidth)));
}

/** Lays out the help of a command for the width of the terminal. Standard error may be another one. */
export function layOutHelp(command: Command): Command {
  const { stdout, stderr, env } = process;
  return command
    .configureOutput({
      getOutHelpWidth: () => helpWidth(stdout.columns, env.COLUMNS),
      getErrHelpWidth: () => helpWidth(stderr.columns, env.COLUMNS),
    })
    .configureHelp({ minWidthToWrap: 20, padWidth, formatItem });
}

const plain = new Help();

/** The width of the column of terms. A term that is longer has its text below it. */
function padWidth(command: Command, help: Help): number {
  return Math.min(plain.padWidth(command, help), Math.floor(0.4 * (help.helpWidth ?? defaultWidth)));
}

function formatItem(this: Help, term: string, termWidth: number, text: string, help: Help): string {
  const item = (name: string): string => Help.prototype.formatItem.call(this, name, termWidth, text, help);
  return help.displayWidth(term) <= termWidth ? item(term) : `  ${term}\n${item('')}`;
}
