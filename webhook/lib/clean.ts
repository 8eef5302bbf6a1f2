import { fitText } from '../../validator/shared/fit-text.ts';
import { texts } from './limits.ts';

/**
 * Terminal escape sequences, namely CSI and OSC (ECMA-48, sections 5.4 and 5.6). Matching takes linear time, which
 * `stripVTControlCharacters` of node:util does not guarantee.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the point
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\p{Cc}]*(?:\x07|\x1b\\|\x9c)/gu;

/** Control characters except tabs, and the characters for text direction (Unicode Standard Annex #9, section 2). */
const controls = /[^\P{Cc}\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Makes an untrusted text safe to show: removes escape sequences, and replaces other control characters with U+FFFD. */
export const clean = (text: string): string => text.replace(sequences, '').replace(controls, '\u{fffd}');

/** Prepares an untrusted text for a message: applies {@link clean}, and limits it to {@link texts.quoted}. */
export function quoted(text: string): string {
  // this function runs for every watch event, so a short text is not copied
  if (text.length <= texts.quoted) return clean(text);
  // reads more characters than it returns, because `clean` removes some
  const head = text.slice(0, 2 * texts.quoted);
  const shown = fitText(`${clean(head)}${head.length < text.length ? ' …' : ''}`, texts.quoted);
  // a copy, because V8 would keep the whole text in memory for a substring
  return Buffer.from(shown).toString();
}
