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
  let rowBefore: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (const [column, otherLetter] of [...other].entries()) {
      const at = (of: number[], index: number): number => of[index] ?? Number.POSITIVE_INFINITY;
      const swapped = letter === other[column - 1] && one[line - 1] === otherLetter;
      next.push(
        Math.min(
          at(row, column + 1) + 1,
          at(next, column) + 1,
          at(row, column) + (letter === otherLetter ? 0 : 1),
          swapped ? at(rowBefore, column - 1) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [rowBefore, row] = [row, next];
  }
  return row[other.length] ?? 0;
}
