import { isDeepStrictEqual as same } from 'node:util';

/** Whether items of a list were added, taken away or moved, so that places in it do not stand for each other. */
export function movesAbout(before: readonly unknown[], after: readonly unknown[]): boolean {
  if (before.length !== after.length) return true;
  const changed = before.flatMap((value, index) => (same(value, after[index]) ? [] : [index]));
  return changed.some((to) => changed.some((from) => same(before[from], after[to])));
}

/** The texts of items in their new order; a value that was not there before is written. */
export function arrange(
  before: readonly unknown[],
  after: readonly unknown[],
  texts: readonly string[],
  write: (value: unknown) => string,
): string[] {
  const free = new Set(before.keys());
  return after.map((value) => {
    const from = [...free].find((index) => same(before[index], value));
    if (from === undefined) return write(value);
    free.delete(from);
    return texts[from] ?? '';
  });
}
