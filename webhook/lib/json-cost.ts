const structural = [
  ['{', 1],
  ['[', 1],
  ['"', 0.5],
] as const;

/**
 * An upper bound on the number of lists, objects and strings in a JSON text. V8 takes up to 330 bytes and 3 µs for
 * each of them. Brackets within strings are counted as well.
 */
export function jsonParts(text: Uint8Array): number {
  const characters = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
  let count = 0;
  for (const [character, parts] of structural) {
    for (let at = characters.indexOf(character); at >= 0; at = characters.indexOf(character, at + 1))
      count += parts;
  }
  return count;
}
