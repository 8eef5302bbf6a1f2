/** Words longer than this are not compared: the time grows with the product of both lengths. */
const longest = 40;

/** A misspelling differs from the word in at most this many letters, and in at most half of its letters. */
const mostLetters = 2;

/** The known word that is most similar to a misspelling; undefined if none is similar enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > longest) return undefined;
  let best: string | undefined;
  let least = Math.min(mostLetters, Math.floor(word.length / 2)) + 1;
  for (const name of known) {
    if (Math.abs(name.length - word.length) >= least) continue;
    const letters = distance(word, name);
    if (letters < least) [best, least] = [name, letters];
  }
  return best;
}

/** How many letters must be inserted, deleted or replaced to turn one word into the other (Levenshtein). */
function distance(name: string, word: string): number {
  // the distance from the letters of `name` read so far to each prefix of `word`
  let row = Array.from({ length: word.length + 1 }, (_, column) => column);
  for (const letter of name) {
    const next = [(row[0] ?? 0) + 1];
    for (const [column, above] of row.slice(1).entries()) {
      const replaced = (row[column] ?? 0) + (letter === word[column] ? 0 : 1);
      next.push(Math.min(above + 1, (next[column] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
