import { isDeepStrictEqual as same } from 'node:util';

/** Whether items of a list were added, removed or moved, so that indexes no longer match. */
export function movesAbout(before: readonly unknown[], after: readonly unknown[]): boolean {
  if (before.length !== after.length) return true;
  const changed = before.flatMap((value, index) => (same(value, after[index]) ? [] : [index]));
  return changed.some((to) => changed.some((from) => same(before[from], after[to])));
}

/** The texts of items in their new order; new values are written. */
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

/** For each item of the new list its index in the old one, or undefined for a new item. */
export function kept(before: readonly unknown[], after: readonly unknown[]): (number | undefined)[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && same(before[head], after[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && same(before[before.length - 1 - tail], after[after.length - 1 - tail]))
    tail += 1;
  let next = head;
  return after.map((value, index) => {
    if (index < head) return index;
    if (index >= after.length - tail) return before.length - (after.length - index);
    for (let at = next; at < before.length - tail; at += 1) {
      if (!same(before[at], value)) continue;
      next = at + 1;
      return at;
    }
    return undefined;
  });
}
