/** A longer word is like no name of ours; comparing takes time in proportion to the product of both lengths. */
const longest = 63;

/**
 * The candidate that a mistyped word most likely stands for; undefined where none is near. Up to a third of the
 * word's letters may be wrong, and three at most: an insertion, a deletion, a replacement and a swap of neighbours
 * count one each.
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
 * How many letters have to be inserted, deleted, replaced or swapped with their neighbour to make one word of another:
 * the optimal string alignment distance (https://en.wikipedia.org/wiki/Damerau–Levenshtein_distance). It takes time in
 * proportion to the product of both lengths.
 */
export function distance(one: string, other: string): number {
  // the distance of the first letters of one from the first letters of the other
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const at = (line: number, column: number): number => rows[line]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let line = 1; line <= one.length; line++) {
    const row = [line];
    rows.push(row);
    for (let column = 1; column <= other.length; column++) {
      const replaced = at(line - 1, column - 1) + (one[line - 1] === other[column - 1] ? 0 : 1);
      const isSwap = one[line - 1] === other[column - 2] && one[line - 2] === other[column - 1];
      const swapped = isSwap ? at(line - 2, column - 2) + 1 : replaced;
      row.push(Math.min(at(line - 1, column) + 1, at(line, column - 1) + 1, replaced, swapped));
    }
  }
  return at(one.length, other.length);
}
