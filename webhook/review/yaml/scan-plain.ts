import { isBlank, isBreak, isSpaceOrEnd, tab } from './characters.ts';
import type { Cursor } from './cursor.ts';
import { fold } from './scan-quoted.ts';
import { YamlError } from './tokens.ts';

/** The characters that end a plain scalar between brackets. */
const flowEnds = new Set([',', '?', '[', ']', '{', '}'].map((char) => char.charCodeAt(0)));
const colon = ':'.charCodeAt(0);
const numberSign = '#'.charCodeAt(0);

/** A plain scalar that was read. */
export interface Plain {
  value: string;
  /** The offset after its last character; the cursor is after the white space that follows. */
  end: number;
  /** Whether line ends follow it. */
  lineEnded: boolean;
}

/**
 * Reads a scalar without quotes.
 *
 * @param indent the least column of its further lines, outside of brackets
 */
export function scanPlain(cursor: Cursor, inFlow: boolean, indent: number): Plain {
  const { text } = cursor;
  const start = cursor.at;
  const parts: string[] = [];
  let end = start;
  let gap = '';
  let lineEnded = false;
  while (!cursor.atMarker() && cursor.code() !== numberSign) {
    const from = cursor.at;
    skipWord(cursor, inFlow);
    if (cursor.at > from) {
      parts.push(gap, text.slice(from, cursor.at));
      end = cursor.at;
      lineEnded = false;
    }
    if (!isBlank(cursor.code()) && !isBreak(cursor.code())) break;
    const spaced = cursor.at;
    let first = '';
    let more = '';
    for (let code = cursor.code(); isBlank(code) || isBreak(code); code = cursor.code()) {
      if (isBreak(code)) {
        if (lineEnded) more += cursor.lineBreak();
        else first = cursor.lineBreak();
        lineEnded = true;
      } else {
        if (lineEnded && code === tab && cursor.column < indent) {
          throw new YamlError('a tab is not allowed here: YAML is indented with spaces', cursor.at);
        }
        cursor.at += 1;
      }
    }
    gap = lineEnded ? fold(first, more) : text.slice(spaced, cursor.at);
    if (!inFlow && cursor.column < indent) break;
  }
  return { value: parts.join(''), end, lineEnded };
}

function skipWord(cursor: Cursor, inFlow: boolean): void {
  for (let code = cursor.code(); !isSpaceOrEnd(code); code = cursor.code()) {
    if (code === colon && isSpaceOrEnd(cursor.code(1))) break;
    if (inFlow && flowEnds.has(code)) break;
    cursor.at += 1;
  }
}
