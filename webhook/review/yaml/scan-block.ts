import { isBlank, isBreak, isBreakOrEnd, isDigit, space, tab } from './characters.ts';
import type { Cursor } from './cursor.ts';
import { YamlError } from './tokens.ts';

/** A block scalar that was read. */
export interface BlockScalar {
  value: string;
  /** The beginning of the line after its last one; with `+`, blank lines belong to it. */
  end: number;
}

/**
 * Reads a block scalar.
 *
 * @param cursor on `|` or `>`; afterwards on the first character with less indentation
 * @param parent the column of its map or list, -1 for none
 */
export function scanBlock(cursor: Cursor, parent: number): BlockScalar {
  const start = cursor.at;
  const literal = cursor.char() === '|';
  const { chomp, increment } = header(cursor, start);
  const base = Math.max(parent, 0);
  const first = indentation(cursor, increment > 0 ? base + increment : 0, parent, start);
  const { indent } = first;
  let { breaks } = first;
  let value = '';
  let lineEnd = '';
  let wasBlank = false;
  let end = first.from;
  while (cursor.column === indent && cursor.at < cursor.text.length) {
    const isBlankLine = isBlank(cursor.code());
    if (!literal && lineEnd === '\n' && !wasBlank && !isBlankLine) {
      value += breaks === '' ? ' ' : breaks;
    } else {
      value += lineEnd + breaks;
    }
    wasBlank = isBlankLine;
    const from = cursor.at;
    while (!isBreakOrEnd(cursor.code())) cursor.at += 1;
    value += cursor.text.slice(from, cursor.at);
    lineEnd = cursor.at < cursor.text.length ? cursor.lineBreak() : '';
    end = cursor.at;
    ({ breaks } = indentation(cursor, indent, parent, start));
  }
  if (chomp !== '-') value += lineEnd;
  if (chomp === '+') {
    value += breaks;
    end = cursor.at - cursor.column;
  }
  return { value, end };
}

function header(cursor: Cursor, start: number): { chomp: string; increment: number } {
  let chomp = '';
  let increment = 0;
  cursor.at += 1;
  for (let left = 2; left > 0; left -= 1) {
    const code = cursor.code();
    if (chomp === '' && (cursor.char() === '+' || cursor.char() === '-')) {
      chomp = cursor.char();
      cursor.at += 1;
    } else if (increment === 0 && isDigit(code)) {
      increment = Number(cursor.char());
      if (increment === 0) throw new YamlError('the indentation of a block scalar cannot be 0', cursor.at);
      cursor.at += 1;
    }
  }
  cursor.blanks();
  cursor.comment();
  if (!isBreakOrEnd(cursor.code())) {
    throw new YamlError('expected the end of the line after the "|" or ">" of a block scalar', start);
  }
  if (isBreak(cursor.code())) cursor.lineBreak();
  return { chomp, increment };
}

interface Indentation {
  indent: number;
  /** The skipped blank lines. */
  breaks: string;
  /** Their beginning. */
  from: number;
}

/** Skips indentation and blank lines. An indentation of 0 means that of the first line with text. */
function indentation(cursor: Cursor, known: number, parent: number, start: number): Indentation {
  const from = cursor.at;
  let breaks = '';
  let deepest = 0;
  for (;;) {
    while ((known === 0 || cursor.column < known) && cursor.code() === space) cursor.at += 1;
    deepest = Math.max(deepest, cursor.column);
    if ((known === 0 || cursor.column < known) && cursor.code() === tab) {
      throw new YamlError('a tab indents a block scalar: use spaces', start);
    }
    if (!isBreak(cursor.code())) break;
    breaks += cursor.lineBreak();
  }
  return { indent: known === 0 ? Math.max(deepest, parent + 1, 1) : known, breaks, from };
}
