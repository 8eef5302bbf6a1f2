import type { Entry } from './object.ts';
import type { Retention } from './source.ts';

/**
 * A difference, to be applied in order. `listed`: it comes from a list, which has only the latest version of an object;
 * events have every version.
 */
export type Change<T> =
  | { type: 'added'; key: string; uid: string; object: T; listed: boolean }
  | { type: 'updated'; key: string; uid: string; object: T; previous: T; listed: boolean }
  /** `missed`: there was no event of the deletion; the next list did not have the object. */
  | { type: 'deleted'; key: string; uid: string; previous: T; missed: boolean };

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
}

/**
 * The last known objects, by key, within one limit: above it, the namespace with the most loses some. Pure: it only
 * computes what a list or an event changes.
 */
export class Store<T> {
  readonly #retention: Retention<T> | undefined;
  #entries = new Map<string, Weighed<T>>();
  #groups = new Map<string, Group<T>>();
  #bytes = 0;
  #leftOut = 0;

  /** @param retention how much is kept; all of it by default */
  constructor(retention?: Retention<T>) {
    this.#retention = retention;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The weight of all objects in bytes; zero where they are not weighed. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many objects were dropped since the last list because there were too many. */
  get leftOut(): number {
    return this.#leftOut;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.entry.object;
  }

  *entries(): Generator<Entry<T>, void, undefined> {
    for (const { entry } of this.#entries.values()) yield entry;
  }

  *list(): Generator<T, void, undefined> {
    for (const { object } of this.entries()) yield object;
  }

  /** Adds or replaces an object within the limit: others may be dropped for it, or the object itself is not kept. */
  put(entry: Entry<T>): Change<T>[] {
    const before = this.#entries.get(entry.key)?.entry;
    const dropped = this.#add(entry);
    const others = dropped.filter((one) => one !== entry).map((one) => deleted(one, true));
    if (others.length === dropped.length) return [...others, ...difference(entry, before, false)];
    return before === undefined ? others : [deleted(before, true), ...others];
  }

  /** Removes an object that was deleted; an object with the same name and another UID stays. */
  remove(key: string, uid: string): Change<T>[] {
    const before = this.#entries.get(key)?.entry;
    if (before?.uid !== uid) return [];
    this.#delete(key);
    return [deleted(before, false)];
  }

  /** Removes an object that is no longer known, though it may still exist. */
  drop(key: string): Change<T>[] {
    const before = this.#delete(key);
    return before === undefined ? [] : [deleted(before, true)];
  }

  /** Takes over the objects of a list, which must not be used any more. */
  replace(listed: Store<T>): Change<T>[] {
    const old = this.#entries;
    this.#entries = listed.#entries;
    this.#groups = listed.#groups;
    this.#bytes = listed.#bytes;
    this.#leftOut = listed.#leftOut;
    const gone = [...old.values()].filter(({ entry }) => !this.#entries.has(entry.key));
    return [
      ...gone.map(({ entry }) => deleted(entry, true)),
      ...[...this.entries()].flatMap((entry) => difference(entry, old.get(entry.key)?.entry, true)),
    ];
  }

  /** @returns the dropped entries, which may include the new one */
  #add(entry: Entry<T>): Entry<T>[] {
    const retention = this.#retention;
    if (retention === undefined) {
      this.#entries.set(entry.key, { entry, weight: 0, rank: 0 });
      return [];
    }
    this.#delete(entry.key);
    const item = { entry, weight: retention.weigh(entry.object), rank: retention.rank(entry.object) };
    const name = namespaceOf(entry.key);
    const group = this.#groups.get(name) ?? new Group<T>();
    this.#groups.set(name, group);
    group.add(item);
    this.#entries.set(entry.key, item);
    this.#bytes += item.weight;
    const dropped: Entry<T>[] = [];
    const { count, bytes } = retention.max;
    while (this.#entries.size > count || this.#bytes > bytes) {
      const last = this.#largest(this.#bytes > bytes)?.last();
      if (last === undefined) break;
      this.#delete(last.entry.key);
      dropped.push(last.entry);
    }
    this.#leftOut += dropped.length;
    return dropped;
  }

  #delete(key: string): Entry<T> | undefined {
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

function difference<T>(entry: Entry<T>, before: Entry<T> | undefined, listed: boolean): Change<T>[] {
  const { key, uid, object } = entry;
  if (before === undefined) return [{ type: 'added', key, uid, object, listed }];
  if (before.uid !== uid) return [deleted(before, true), { type: 'added', key, uid, object, listed }];
  if (before.resourceVersion === entry.resourceVersion) return [];
  return [{ type: 'updated', key, uid, object, previous: before.object, listed }];
}

const deleted = <T>({ key, uid, object }: Entry<T>, missed: boolean): Change<T> => ({
  type: 'deleted',
  key,
  uid,
  previous: object,
  missed,
});
