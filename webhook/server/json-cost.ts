import { CniGateError } from '../lib/errors.ts';

/**
 * Bytes of V8's heap for each structural character of JSON, as an upper bound. Measured with Node 24 on lists of the
 * most expensive elements of each kind: `{"30":1}` takes 328 bytes, `[1]` 60, a new key 50, a number or short string
 * in a list 32.
 */
const weights = { object: 328, list: 64, key: 32, element: 24 };

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Bytes up to which a text is first judged by its brackets alone: a call about an ordinary pod is never scanned. */
const smallText = 64 * 1024;

/**
 * How many bytes of heap a JSON text takes while and after it is parsed, at most. The text of `[{},{},…]` becomes
 * more than 20 times as large, that of one long string stays as it is. Takes linear time.
 *
 * @param text UTF-8; need not be valid JSON
 * @param maxDepth levels of lists and objects
 * @throws CniGateError CNI_GATE_REVIEW_INVALID where it is nested deeper
 */
export function heapCostOf(text: Buffer, maxDepth: number): number {
  return (text.length <= smallText ? boundByBrackets(text, maxDepth) : undefined) ?? scan(text, maxDepth);
}

/**
 * A bound from the number of brackets, without reading what is between them; undefined where the text may be nested
 * too deep. Brackets in strings count as well, and every second character counts as the comma of a list of digits: nothing
 * else without brackets takes more.
 */
function boundByBrackets(text: Buffer, maxDepth: number): number | undefined {
  const characters = text.toString('latin1');
  const objects = countOf(characters, '{', maxDepth);
  const lists = countOf(characters, '[', maxDepth);
  if (objects + lists > maxDepth) return undefined;
  return (2 + weights.element / 2) * text.length + objects * weights.object + lists * weights.list;
}

/** How often a character occurs; counting ends beyond the given number. */
function countOf(text: string, character: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0 && count <= max; at = text.indexOf(character, at + 1))
    count++;
  return count;
}

function scan(text: Uint8Array, maxDepth: number): number {
  const { length } = text;
  // the text itself becomes a string, with two bytes a character where one of them is not Latin-1
  let cost = 2 * length;
  let depth = 0;
  for (let index = 0; index < length; index++) {
    const byte = text[index];
    if (byte === quote) {
      for (index++; index < length; index++) {
        const inside = text[index];
        if (inside === backslash) index++;
        else if (inside === quote) break;
      }
    } else if (byte === comma) cost += weights.element;
    else if (byte === colon) cost += weights.key;
    else if (byte === openBrace || byte === openBracket) {
      cost += byte === openBrace ? weights.object : weights.list;
      if (++depth > maxDepth) {
        throw new CniGateError(
          'CNI_GATE_REVIEW_INVALID',
          `expected at most ${maxDepth} levels of lists and objects in the body, got more; no object of Kubernetes has so many`,
        );
      }
    } else if (byte === closeBrace || byte === closeBracket) depth--;
  }
  return cost;
}
