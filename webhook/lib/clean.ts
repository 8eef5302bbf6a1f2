import { fitText } from '../../validator/shared/fit-text.ts';
import { texts } from './limits.ts';

/**
 * Escape sequences of terminals: CSI and OSC (ECMA-48, sections 5.4 and 5.6). The time is linear in the length of the text,
 * unlike that of `stripVTControlCharacters` of node:util.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the point
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\p{Cc}]*(?:\x07|\x1b\\|\x9c)/gu;

/** Control characters except tabs, and those that change the direction of text (Unicode Standard Annex #9, section 2). */
const controls = /[^\P{Cc}\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Makes an untrusted text safe to show: removes escape sequences, and replaces other control characters with U+FFFD. */
export const clean = (text: string): string => text.replace(sequences, '').replace(controls, '\u{fffd}');

/** An untrusted text to quote in a message: {@link clean}, and at most {@link texts.quoted} characters. */
export function quoted(text: string): string {
  // a short text is not copied: this runs for every watch event
  if (text.length <= texts.quoted) return clean(text);
  // escape sequences are removed, so read more than is shown
  const head = text.slice(0, 2 * texts.quoted);
  const shown = fitText(`${clean(head)}${head.length < text.length ? ' …' : ''}`, texts.quoted);
  // a substring would keep the whole text in memory
  return Buffer.from(shown).toString();
}
