import { stripVTControlCharacters } from 'node:util';

/** What a manifest says must not steer the terminal. */
export const clean = (text: string): string =>
  stripVTControlCharacters(text).replace(/[^\P{Cc}\t]/gu, '\u{fffd}');
