import { CniGateError } from './errors.ts';
import { jsonShape, serverLimits } from './limits.ts';

const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Twice as many places as shapes are allowed, so that a free one is always near. */
const places = 2 ** Math.ceil(Math.log2(2 * jsonShape.shapes));

/**
 * What of a JSON text takes V8 long to parse for its size; undefined if nothing does. V8 looks up every string in a
 * table, and creates a shape for each key that follows a sequence of keys for the first time: 300,000 different keys
 * take 0.9 s, in which nobody else is answered, and so do a few thousand keys in ever different order. As many keys in
 * objects of a few shapes take 25 ms. Takes about 2 ns a byte.
 *
 * @param text UTF-8; need not be valid JSON
 * @returns for people, such as `16384 shapes of objects`
 */
export function costlyShape(text: Uint8Array): string | undefined {
  const { length } = text;
  if (length <= jsonShape.small) return undefined;
  // nobody can make up keys that count as one: the hash begins with a number that they do not know
  const seed = Math.floor(Math.random() * 2 ** 32);
  const seen = new Uint32Array(places);
  // for each open level, a hash of the keys of its object so far
  const shapes = new Uint32Array(serverLimits.depth + 2);
  let [depth, strings, count, last] = [0, 0, 0, 0];
  for (let index = 0; index < length; index++) {
    const byte = text[index] ?? 0;
    if (byte === quote) {
      let hash = seed;
      for (index++; index < length; index++) {
        const inside = text[index] ?? 0;
        if (inside === quote) break;
        hash = mix(hash, inside);
        // the escaped character counts, and does not end the string
        if (inside === backslash) hash = mix(hash, text[++index] ?? 0);
      }
      if (++strings > jsonShape.strings) return `${jsonShape.strings} strings`;
      last = hash;
    } else if (byte === colon) {
      const shape = mix(shapes[depth] ?? 0, last);
      shapes[depth] = shape;
      // zero is a free place
      if (isNew(seen, shape || 1) && ++count > jsonShape.shapes)
        return `${jsonShape.shapes} shapes of objects`;
    } else if (byte === openBrace || byte === openBracket) {
      // deeper texts are refused elsewhere, and count as one level here
      depth = Math.min(depth + 1, shapes.length - 1);
      shapes[depth] = seed;
    } else if (byte === closeBrace || byte === closeBracket) depth = Math.max(depth - 1, 0);
  }
  return undefined;
}

/**
 * Refuses a body that takes long to parse for its size.
 *
 * @throws CniGateError CNI_GATE_REVIEW_TOO_LARGE
 */
export function checkShape(text: Uint8Array): void {
  const fault = costlyShape(text);
  if (fault === undefined) return;
  throw new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `expected at most ${fault} in the body, got more; no object of Kubernetes has so many`,
  );
}

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
