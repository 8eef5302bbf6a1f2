/** A longer word is like no name of ours; comparing takes time in proportion to the product of both lengths. */
const longest = 63;

/**
 * The candidate that a mistyped word most likely stands for; undefined where none is near. Up to a third of the
 * word's letters may be wrong, and three at most; a swap of neighbours counts as two.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > longest) return undefined;
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const apart = distance(word.toLowerCase(), candidate.toLowerCase());
    if (apart < least) [best, least] = [candidate, apart];
  }
  return best;
}

/**
 * How many letters have to be inserted, deleted or replaced to make one word of another (Levenshtein). It takes time in
 * proportion to the product of both lengths.
 */
export function distance(one: string, other: string): number {
  // the distance of the letters of one so far from the first letters of the other
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const letter of one) {
    const next = [(row[0] ?? 0) + 1];
    for (const [column, above] of row.slice(1).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other[column] ? 0 : 1);
      next.push(Math.min(above + 1, (next[column] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
