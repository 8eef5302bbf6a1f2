import { fitText } from '../../validator/shared/fit-text.ts';
import { texts } from './limits.ts';

/**
 * Sequences that steer a terminal: CSI (`ESC [ … letter`) and OSC (`ESC ] … BEL`). No part of a pattern takes what the
 * next one begins with, and none takes a control character, so the work grows with the text and no faster, which is
 * not true of `stripVTControlCharacters` of node:util. Source: ECMA-48, sections 5.4 and 5.6.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is about
const sequences = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\p{Cc}]*(?:\x07|\x1b\\|\x9c)/gu;

/**
 * Control characters but for tabs, and the characters that change the direction of text: what follows them is shown in
 * another order than it was written, so that a text reads as something that it does not say. Source: Unicode Standard
 * Annex #9, section 2.
 */
const controls = /[^\P{Cc}\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A text of somebody else's without what would steer the terminal or change the order of the text: sequences of
 * control characters go, and each other such character is shown as U+FFFD.
 */
export const clean = (text: string): string => text.replace(sequences, '').replace(controls, '\u{fffd}');

/**
 * A text of somebody else's to quote in a message: {@link clean}, and at most {@link texts.quoted} characters. The
 * result holds no part of a long text in memory.
 */
export function quoted(text: string): string {
  // a short text is not copied: this is called on every event of a watch
  if (text.length <= texts.quoted) return clean(text);
  // escape sequences go, so more is looked at than is shown
  const head = text.slice(0, 2 * texts.quoted);
  const shown = fitText(`${clean(head)}${head.length < text.length ? ' …' : ''}`, texts.quoted);
  // a slice would keep the text that it is from
  return Buffer.from(shown).toString();
}
