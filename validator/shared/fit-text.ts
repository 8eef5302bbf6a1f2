/** An error code at the end of a text, with the fields of a tag for programs (webhook/core/facts/refusal-tag.ts). */
const lastCode = / \(CNI_GATE_[A-Z_]{1,40}(?: [a-z]{1,20}=[\w.-]{1,253}){0,3}\)$/;

const ellipsis = '…';

export type SizeOf = (character: string) => number;

/** The size of a text in bytes of UTF-8, as Kubernetes counts the note of an event. */
export const inBytes: SizeOf = (text) => {
  let size = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return size;
};

/**
 * Shortens a text to a limit, if possible after a whole word. Keeps an error code at the end of the text.
 * @param max the limit, at least 60 if the text may end with an error code, and 900 if the code may have a tag
 * @param sizeOf the size of a character; by default 1
 */
export function fitText(text: string, max: number, sizeOf: SizeOf = () => 1): string {
  if (fitting(text, max, sizeOf) === text.length) return text;
  const code = lastCode.exec(text)?.[0] ?? '';
  const body = text.slice(0, text.length - code.length);
  const end = fitting(body, max - sizeIn(ellipsis + code, sizeOf), sizeOf);
  const head = body.slice(0, end);
  // if the next character is a blank, the last word is complete
  const words = end === body.length || /\s/.test(body.charAt(end)) ? head : head.replace(/\S+$/, '');
  const kept = sizeIn(words, sizeOf) >= sizeIn(head, sizeOf) / 2 ? words : head;
  return kept.replace(/[\s,;:]+$/, '') + ellipsis + code;
}

/** Returns the index up to which a text fits. Reads no further, because a text may be very long. */
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
