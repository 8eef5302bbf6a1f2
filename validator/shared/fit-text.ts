/** An error code in parentheses at the end of a text: whoever reads the rest only in part searches for that. */
const lastCode = / \(CNI_GATE_[A-Z_]{1,40}\)$/;

const ellipsis = '…';

/** What a character counts for. */
export type SizeOf = (character: string) => number;

/** Bytes of UTF-8, as Kubernetes counts the note of an event. */
export const inBytes: SizeOf = (character) => Buffer.byteLength(character);

/**
 * A text that fits a limit. One that is too long loses its end: it is cut behind a word, an ellipsis takes the place of
 * the rest, and an error code at its end stays. Only where a single word is longer than half of the room is it cut
 * inside that word, between two characters.
 *
 * @param max the limit, at least 60 where the text may end with a code
 * @param sizeOf 1 by default
 */
export function fitText(text: string, max: number, sizeOf: SizeOf = () => 1): string {
  if (fitting(text, max, sizeOf) === text.length) return text;
  const code = lastCode.exec(text)?.[0] ?? '';
  const body = text.slice(0, text.length - code.length);
  const end = fitting(body, max - sizeIn(ellipsis + code, sizeOf), sizeOf);
  const head = body.slice(0, end);
  // in front of a blank every word is whole
  const words = end === body.length || /\s/.test(body.charAt(end)) ? head : head.replace(/\S+$/, '');
  const kept = sizeIn(words, sizeOf) >= sizeIn(head, sizeOf) / 2 ? words : head;
  return kept.replace(/[\s,;:]+$/, '') + ellipsis + code;
}

/** How much of a text fits, as an index into it: a text may be of any length, and no more of it is looked at. */
function fitting(text: string, max: number, sizeOf: SizeOf): number {
  let left = max;
  let end = 0;
  for (const character of text) {
    left -= sizeOf(character);
    if (left < 0) break;
    end += character.length;
  }
  return end;
}

const sizeIn = (text: string, sizeOf: SizeOf): number =>
  [...text].reduce((sum, character) => sum + sizeOf(character), 0);
