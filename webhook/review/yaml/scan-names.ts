import { isBreak, isBreakOrEnd, isSpaceOrEnd, isWord } from './characters.ts';
import type { Cursor } from './cursor.ts';
import { YamlError } from './tokens.ts';

/** The characters that may follow the name of an anchor or alias. */
const afterName = new Set('?:,]}%@`');
/** The characters of a tag's suffix, besides words. */
const inTag = new Set(";/?:@&=+$,.!~*'()[]%");

/** Reads the name after `&` or `*`. */
export function scanAnchor(cursor: Cursor): string {
  const start = cursor.at;
  const sign = cursor.char();
  cursor.at += 1;
  const name = word(cursor);
  if (name === '' || !(isSpaceOrEnd(cursor.code()) || afterName.has(cursor.char()))) {
    const what = sign === '&' ? 'an anchor' : 'an alias';
    throw new YamlError(
      `"${sign}" begins ${what}, whose name is letters, digits, "-" and "_": is a quote missing?`,
      start,
    );
  }
  return name;
}

/** Reads a tag: its handle, which is empty for one in angle brackets, and its suffix. */
export function scanTag(cursor: Cursor): { handle: string; suffix: string } {
  const start = cursor.at;
  const fail = (): never => {
    throw new YamlError('"!" begins a tag, but this is not a tag: is a quote missing?', start);
  };
  let handle = '';
  let suffix: string;
  if (cursor.text[start + 1] === '<') {
    cursor.at += 2;
    suffix = uri(cursor);
    if (suffix === '' || cursor.char() !== '>') fail();
    cursor.at += 1;
  } else {
    cursor.at += 1;
    const first = word(cursor);
    if (cursor.char() === '!') {
      cursor.at += 1;
      handle = `!${first}!`;
      suffix = uri(cursor);
      if (suffix === '') fail();
    } else {
      suffix = first + uri(cursor);
      // a single exclamation mark is a tag by itself
      if (suffix === '') suffix = '!';
      else handle = '!';
    }
  }
  if (!isSpaceOrEnd(cursor.code())) fail();
  return { handle, suffix };
}

/** Reads a line that begins with `%`. The value of `%YAML` is a version, that of `%TAG` a handle and a prefix. */
export function scanDirective(cursor: Cursor): { name: string; value: string } {
  const start = cursor.at;
  const from = start + 1;
  while (!isBreakOrEnd(cursor.code())) cursor.at += 1;
  const line = cursor.text.slice(from, cursor.at);
  if (isBreak(cursor.code())) cursor.lineBreak();
  const match =
    /^(YAML)[ \t]+(\d{1,2}\.\d{1,2})[ \t]*(?:#.*)?$/.exec(line) ??
    /^(TAG)[ \t]+(!(?:[\w-]*!)?[ \t]+\S+)[ \t]*(?:#.*)?$/.exec(line);
  if (match === null)
    throw new YamlError('a line that begins with "%" is not a directive that Kubernetes knows', start);
  return { name: match[1] ?? '', value: match[2] ?? '' };
}

function word(cursor: Cursor): string {
  const from = cursor.at;
  while (isWord(cursor.code())) cursor.at += 1;
  return cursor.text.slice(from, cursor.at);
}

function uri(cursor: Cursor): string {
  const from = cursor.at;
  while (isWord(cursor.code()) || inTag.has(cursor.char())) cursor.at += 1;
  const text = cursor.text.slice(from, cursor.at);
  try {
    return decodeURIComponent(text);
  } catch {
    throw new YamlError('a "%" in a tag is not followed by the code of a character', from);
  }
}
