import { fitText } from '../../validator/shared/fit-text.ts';
import { texts } from './limits.ts';

/**
 * Escape sequences of terminals: CSI (`ESC [ … letter`) and OSC (`ESC ] … BEL`). The parts of the pattern do not overlap,
 * so the time is linear in the length of the text. That is not true of `stripVTControlCharacters` of node:util. Source: ECMA-48, sections 5.4 and 5.6.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching control characters is the point
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\p{Cc}]*(?:\x07|\x1b\\|\x9c)/gu;

/**
 * Control characters except tabs, and characters that change the direction of text: they make a text look different from
 * what it says. Source: Unicode Standard
 * Annex #9, section 2.
 */
const controls = /[^\P{Cc}\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Makes an untrusted text safe to show: it removes escape sequences, and replaces other control characters and
 * characters that change the direction of text with U+FFFD.
 */
export const clean = (text: string): string => text.replace(sequences, '').replace(controls, '\u{fffd}');

/**
 * Makes an untrusted text short and safe to quote in a message: {@link clean}, and at most {@link texts.quoted}
 * characters. The result does not keep the long text in memory.
 */
export function quoted(text: string): string {
  // a short text is not copied: this runs for every watch event
  if (text.length <= texts.quoted) return clean(text);
  // escape sequences are removed, so read more than is shown
  const head = text.slice(0, 2 * texts.quoted);
  const shown = fitText(`${clean(head)}${head.length < text.length ? ' …' : ''}`, texts.quoted);
  // a substring would keep the whole text in memory
  return Buffer.from(shown).toString();
}
