import { isBlank, isBreak, isSpaceOrEnd } from './characters.ts';
import type { Cursor } from './cursor.ts';
import { YamlError } from './tokens.ts';

const escapes: Record<string, string> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

/** The number of hexadecimal digits after an escape. */
const digits: Record<string, number> = { x: 2, u: 4, U: 8 };

/**
 * Reads a scalar in quotes. Its lines may have any indentation, also less than the key before it: YAML requires more,
 * Kubernetes' reader does not.
 *
 * @param cursor on the opening quote; afterwards after the closing one
 * @param json whether the escapes are those of JSON, where each half of a character may have its own
 */
export function scanQuoted(cursor: Cursor, json: boolean): string {
  const start = cursor.at;
  const quote = cursor.char();
  const parts: string[] = [];
  cursor.at += 1;
  for (;;) {
    if (cursor.atMarker())
      throw new YamlError(`a line of the text in ${quote} is a document marker`, cursor.at);
    if (cursor.at >= cursor.text.length) throw new YamlError(`the ${quote} is never closed`, start);
    const joined = words(cursor, quote, parts, json);
    if (cursor.char() === quote) break;
    parts.push(between(cursor, joined));
  }
  cursor.at += 1;
  return parts.join('');
}

/** Reads up to white space or the closing quote; true if it ended with an escaped line end. */
function words(cursor: Cursor, quote: string, parts: string[], json: boolean): boolean {
  let from = cursor.at;
  for (;;) {
    const code = cursor.code();
    if (isSpaceOrEnd(code)) break;
    const char = cursor.char();
    if (char === quote) {
      if (quote !== "'" || cursor.text[cursor.at + 1] !== "'") break;
      parts.push(cursor.text.slice(from, cursor.at + 1));
      cursor.at += 2;
      from = cursor.at;
    } else if (char === '\\' && quote === '"') {
      parts.push(cursor.text.slice(from, cursor.at));
      if (isBreak(cursor.code(1))) {
        cursor.at += 1;
        cursor.lineBreak();
        return true;
      }
      parts.push(escaped(cursor, json));
      from = cursor.at;
    } else {
      cursor.at += 1;
    }
  }
  parts.push(cursor.text.slice(from, cursor.at));
  return false;
}

function escaped(cursor: Cursor, json: boolean): string {
  const { text, at } = cursor;
  const char = text[at + 1] ?? '';
  cursor.at += 2;
  const plain = Object.hasOwn(escapes, char) ? escapes[char] : undefined;
  if (plain !== undefined) return plain;
  if (json && char === '/') return char;
  const length = Object.hasOwn(digits, char) ? (digits[char] ?? 0) : 0;
  if (length === 0) throw new YamlError(`\\${char} is not an escape in YAML: write \\\\ for a backslash`, at);
  const hex = text.slice(at + 2, at + 2 + length);
  const code = /^[0-9a-fA-F]+$/.test(hex) && hex.length === length ? Number.parseInt(hex, 16) : Number.NaN;
  if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff && !json)) {
    throw new YamlError(`\\${char}${hex} is not the code of a character`, at);
  }
  cursor.at += length;
  return String.fromCodePoint(code);
}

/** White space in a line stays; a line end becomes a space, and further ones stay. */
function between(cursor: Cursor, joined: boolean): string {
  const from = cursor.at;
  let folded = joined;
  let first = '';
  let more = '';
  for (let code = cursor.code(); isBlank(code) || isBreak(code); code = cursor.code()) {
    if (isBlank(code)) {
      cursor.at += 1;
    } else if (folded) {
      more += cursor.lineBreak();
    } else {
      first = cursor.lineBreak();
      folded = true;
    }
  }
  if (!folded) return cursor.text.slice(from, cursor.at);
  return fold(first, more);
}

/** The text of line ends between two words. */
export function fold(first: string, more: string): string {
  if (first !== '\n') return first + more;
  return more === '' ? ' ' : more;
}
