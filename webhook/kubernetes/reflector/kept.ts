import type { Entry } from './object.ts';
import type { Amount, Keeping } from './source.ts';

/** Keeps objects that have no namespace. Where there are too many, the largest are dropped first. */
export const largestFirst = <T>(max: Amount, weigh: (object: T) => number): Keeping<T> => ({
  max,
  mostOfNamespace: max,
  weigh,
  rank: weigh,
});

interface Weighed<T> {
  entry: Entry<T>;
  weight: number;
  rank: number;
}

/** The entries of one namespace. */
class Group<T> {
  readonly items = new Map<string, Weighed<T>>();
  bytes = 0;
  #last: Weighed<T> | undefined;

  add(item: Weighed<T>): void {
    this.items.set(item.entry.key, item);
    this.bytes += item.weight;
    if (this.#last !== undefined && item.rank >= this.#last.rank) this.#last = item;
  }

  delete(item: Weighed<T>): void {
    this.items.delete(item.entry.key);
    this.bytes -= item.weight;
    if (this.#last === item) this.#last = undefined;
  }

  /** The entry to drop first: of those with the largest rank, the latest. */
  last(): Weighed<T> | undefined {
    if (this.#last === undefined) {
      for (const item of this.items.values()) {
        if (this.#last === undefined || item.rank >= this.#last.rank) this.#last = item;
      }
    }
    return this.#last;
  }

  exceeds({ count, bytes }: Amount): boolean {
    return this.items.size > count || this.bytes > bytes;
  }
}

/** Entries by key, within limits. Where there are too many, the namespace with the most loses some. */
export class Kept<T> implements Iterable<Entry<T>> {
  readonly #keeping: Keeping<T> | undefined;
  readonly #entries = new Map<string, Weighed<T>>();
  readonly #groups = new Map<string, Group<T>>();
  #bytes = 0;
  #leftOut = 0;

  /** @param keeping everything is kept without it */
  constructor(keeping?: Keeping<T>) {
    this.#keeping = keeping;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The weight of all, in bytes; zero where nothing is weighed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many entries were dropped. */
  get leftOut(): number {
    return this.#leftOut;
  }

  get(key: string): Entry<T> | undefined {
    return this.#entries.get(key)?.entry;
  }

  *[Symbol.iterator](): Generator<Entry<T>, void, undefined> {
    for (const { entry } of this.#entries.values()) yield entry;
  }

  /** Adds an entry, or replaces the one with its key. @returns the dropped entries, which may include the new one */
  put(entry: Entry<T>): Entry<T>[] {
    const keeping = this.#keeping;
    if (keeping === undefined) {
      this.#entries.set(entry.key, { entry, weight: 0, rank: 0 });
      return [];
    }
    this.delete(entry.key);
    const item = { entry, weight: keeping.weigh(entry.object), rank: keeping.rank(entry.object) };
    const name = namespaceOf(entry.key);
    const group = this.#groups.get(name) ?? new Group<T>();
    this.#groups.set(name, group);
    group.add(item);
    this.#entries.set(entry.key, item);
    this.#bytes += item.weight;
    const gone: Entry<T>[] = [];
    while (group.exceeds(keeping.mostOfNamespace)) gone.push(...this.#giveUp(group));
    const { count, bytes } = keeping.max;
    while (this.#entries.size > count || this.#bytes > bytes) {
      gone.push(...this.#giveUp(this.#largest(this.#bytes > bytes)));
    }
    this.#leftOut += gone.length;
    return gone;
  }

  delete(key: string): Entry<T> | undefined {
    const item = this.#entries.get(key);
    if (item === undefined) return undefined;
    this.#entries.delete(key);
    this.#bytes -= item.weight;
    const name = namespaceOf(key);
    const group = this.#groups.get(name);
    group?.delete(item);
    if (group?.items.size === 0) this.#groups.delete(name);
    return item.entry;
  }

  #giveUp(group: Group<T> | undefined): Entry<T>[] {
    const item = group?.last();
    if (item === undefined) return [];
    this.delete(item.entry.key);
    return [item.entry];
  }

  #largest(byBytes: boolean): Group<T> | undefined {
    const sizeOf = ({ bytes, items }: Group<T>): number => (byBytes ? bytes : items.size);
    let largest: Group<T> | undefined;
    for (const group of this.#groups.values()) {
      if (largest === undefined || sizeOf(group) > sizeOf(largest)) largest = group;
    }
    return largest;
  }
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));
