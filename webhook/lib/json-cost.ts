const structural = ['{', '[', '"'];

/**
 * How many lists, objects and strings a JSON text has at most: V8 takes up to 330 bytes and 3 µs for one. Characters
 * within strings count as well, so that nothing has to be parsed.
 *
 * @param text UTF-8; need not be valid JSON
 */
export function jsonParts(text: Uint8Array): number {
  const characters = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
  const [objects = 0, lists = 0, quotes = 0] = structural.map((character) => {
    let count = 0;
    for (let at = characters.indexOf(character); at >= 0; at = characters.indexOf(character, at + 1)) count++;
    return count;
  });
  return objects + lists + quotes / 2;
}
