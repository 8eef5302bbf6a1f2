/** An error code in parentheses at the end of a text: whoever reads the rest only in part searches for that. */
const lastCode = / \(CNI_GATE_[A-Z_]+\)$/;

const ellipsis = '…';

/** The size of a text in bytes of UTF-8, as Kubernetes counts the note of an event. */
export const inBytes = (character: string): number => Buffer.byteLength(character);

/**
 * A text that fits a limit. One that is too long loses its end: it is cut behind a word, an ellipsis takes the place of
 * the rest, and an error code at its end stays. Only where a single word is longer than half of the room is it cut
 * inside that word, between two characters.
 *
 * @param most the limit, at least 60 where the text may end with a code
 * @param sizeOf what a character counts for; 1 by default
 */
export function fitText(text: string, most: number, sizeOf: (character: string) => number = () => 1): string {
  const size = (part: string): number => [...part].reduce((sum, one) => sum + sizeOf(one), 0);
  if (size(text) <= most) return text;
  const code = lastCode.exec(text)?.[0] ?? '';
  const body = text.slice(0, text.length - code.length);
  let room = most - size(ellipsis + code);
  let end = 0;
  for (const character of body) {
    room -= sizeOf(character);
    if (room < 0) break;
    end += character.length;
  }
  return wholeWords(body, end) + ellipsis + code;
}

/** The first characters of a text without the word that the cut would go through. */
function wholeWords(text: string, end: number): string {
  const head = text.slice(0, end);
  const isWhole = end === text.length || /\s/.test(text.charAt(end));
  const blank = isWhole ? end : head.search(/\s\S*$/);
  return (blank >= end / 2 ? head.slice(0, blank) : head).replace(/[\s,;:]+$/, '');
}
