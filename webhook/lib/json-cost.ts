import { jsonShape, serverLimits } from './limits.ts';

/** What it costs to parse a JSON text. */
export interface JsonCost {
  /** Bytes of V8's heap while and after it is parsed, at most. */
  heap: number;
  /** Whether it has more levels of lists and objects than `serverLimits.depth`. */
  isTooDeep: boolean;
  /** What takes V8 too long to parse, for people, such as `16384 shapes of objects`. */
  slow?: string;
}

/**
 * Bytes of V8's heap for each structural character of JSON, as an upper bound. Measured with Node 24 on lists of the
 * most expensive elements of each kind: `{"30":1}` takes 328 bytes, `[1]` 60, a new key 50, a number or short string
 * in a list 32. Of an object whose keys are array indexes V8 allocates up to 27 places of 8 bytes for each key.
 */
const weights = { object: 328, list: 64, key: 32, index: 256, element: 24 };

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Twice as many places as shapes are allowed, so that a free one is always near. */
const places = 2 ** Math.ceil(Math.log2(2 * jsonShape.shapes));

/**
 * Estimates what it costs to parse a text, without parsing it. The text of `[{},{},…]` becomes more than 20 times as
 * large, that of one long string stays as it is. A call about an ordinary pod is never scanned. Takes linear time.
 *
 * @param text UTF-8; need not be valid JSON
 */
export function jsonCost(text: Buffer): JsonCost {
  return (text.length <= jsonShape.small ? boundByBrackets(text) : undefined) ?? scan(text);
}

/**
 * What takes V8 too long to parse in a text, as in {@link JsonCost}. A small text is never slow.
 *
 * @param text UTF-8; need not be valid JSON
 */
export const slowJson = (text: Uint8Array): string | undefined =>
  text.length <= jsonShape.small ? undefined : scan(text).slow;

/**
 * A bound from the number of brackets, without reading what is between them; undefined where the text may be nested
 * too deep. Brackets in strings count as well, and every second character counts as the comma of a list of digits: nothing
 * else without brackets takes more.
 */
function boundByBrackets(text: Buffer): JsonCost | undefined {
  const characters = text.toString('latin1');
  const objects = countOf(characters, '{');
  const lists = countOf(characters, '[');
  if (objects + lists > serverLimits.depth) return undefined;
  const heap = (2 + weights.element / 2) * text.length + objects * weights.object + lists * weights.list;
  return { heap, isTooDeep: false };
}

/** How often a character occurs; counting ends beyond the levels that are allowed. */
function countOf(text: string, character: string): number {
  let count = 0;
  for (
    let at = text.indexOf(character);
    at >= 0 && count <= serverLimits.depth;
    at = text.indexOf(character, at + 1)
  )
    count++;
  return count;
}

/**
 * Reads a text once. V8 looks up every string in a table, and creates a shape for each key that follows a sequence of
 * keys for the first time: 300,000 different keys take 0.9 s, in which no other call is answered, and so do a few
 * thousand keys in ever different order. As many keys in objects of a few shapes take 25 ms. Takes about 2 ns a byte.
 */
function scan(text: Uint8Array): JsonCost {
  const { length } = text;
  const isSmall = length <= jsonShape.small;
  // a client cannot make keys that count as one: the hash begins with a random number
  const seed = Math.floor(Math.random() * 2 ** 32);
  const seen = new Uint32Array(isSmall ? 0 : places);
  // for each open level, a hash of the keys of its object so far
  const shapes = new Uint32Array(serverLimits.depth + 2);
  // the text itself becomes a string, with two bytes a character where one of them is not Latin-1
  let heap = 2 * length;
  let [depth, strings, count, last] = [0, 0, 0, 0];
  let isIndex = false;
  for (let index = 0; index < length; index++) {
    const byte = text[index] ?? 0;
    if (byte === quote) {
      let hash = seed;
      isIndex = isDigit(text[index + 1]);
      for (index++; index < length; index++) {
        const inside = text[index] ?? 0;
        if (inside === quote) break;
        hash = mix(hash, inside);
        // the escaped character counts, and does not end the string
        if (inside === backslash) hash = mix(hash, text[++index] ?? 0);
      }
      strings++;
      last = hash;
    } else if (byte === comma) heap += weights.element;
    else if (byte === colon) {
      heap += isIndex ? weights.index : weights.key;
      const shape = mix(shapes[depth] ?? 0, last);
      shapes[depth] = shape;
      // zero is a free place
      if (!isSmall && isNew(seen, shape || 1)) count++;
    } else if (byte === openBrace || byte === openBracket) {
      heap += byte === openBrace ? weights.object : weights.list;
      if (++depth > serverLimits.depth) return { heap, isTooDeep: true };
      shapes[depth] = seed;
    } else if (byte === closeBrace || byte === closeBracket) depth = Math.max(depth - 1, 0);
    if (count > jsonShape.shapes)
      return { heap, isTooDeep: false, slow: `${jsonShape.shapes} shapes of objects` };
    if (strings > jsonShape.strings) return { heap, isTooDeep: false, slow: `${jsonShape.strings} strings` };
  }
  return { heap, isTooDeep: false };
}

const isDigit = (byte = 0): boolean => byte >= 0x30 && byte <= 0x39;

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Adds a hash to a table with places left; whether it was not there. */
function isNew(seen: Uint32Array, hash: number): boolean {
  let place = hash & (places - 1);
  for (let there = seen[place]; there !== 0; there = seen[place]) {
    if (there === hash) return false;
    place = (place + 1) & (places - 1);
  }
  seen[place] = hash;
  return true;
}
