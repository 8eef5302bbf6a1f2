import type { Entry, Retention } from './object.ts';

/**
 * A difference, to be applied in order. `listed`: it comes from a list, which has only the latest version of an object;
 * events have every version.
 */
export type Change<T> =
  | { type: 'added'; key: string; uid: string; object: T; listed: boolean }
  | { type: 'updated'; key: string; uid: string; object: T; previous: T; listed: boolean }
  | { type: 'deleted'; key: string; uid: string; previous: T };

/** The part of an informer that others read. */
export interface Lister<T> {
  readonly store: Pick<Store<T>, 'get'>;
  /** Calls back with the changes of each event, and with all changes of a list at once, after the store has them. */
  subscribe(subscriber: (changes: Change<T>[]) => void): () => void;
}

interface Weighed<T> {
  entry: Entry<T>;
  weight: number;
}

/** The entries of one namespace: the one that changed last is the last. */
interface Group {
  keys: Set<string>;
  bytes: number;
}

const [count, bytes] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const unlimited: Retention<unknown> = { max: { count, bytes }, weigh: () => 0 };

/**
 * The last known objects, by key, within one limit of bytes: above it, the namespace with the most loses those that have
 * not changed for the longest time. Each object weighs at least its share of the limit, so their number has a limit too.
 * Pure: it only computes what a list or an event changes.
 */
export class Store<T> {
  readonly #retention: Retention<T>;
  #entries = new Map<string, Weighed<T>>();
  #groups = new Map<string, Group>();
  #bytes = 0;
  #leftOut = 0;

  /** @param retention how much is kept; all of it by default */
  constructor(retention: Retention<T> = unlimited) {
    this.#retention = retention;
  }

  get size(): number {
    return this.#entries.size;
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
    const before = this.#delete(entry.key);
    this.#add(entry);
    const dropped = this.#shrink();
    if (!this.#entries.has(entry.key)) {
      const others = dropped.filter((one) => one !== entry);
      return (before === undefined ? others : [before, ...others]).map(deleted);
    }
    return [...dropped.map(deleted), ...difference(entry, before, false)];
  }

  /** Removes an object. @param uid of the one that was deleted: another one with its name stays */
  remove(key: string, uid?: string): Change<T>[] {
    if (uid !== undefined && this.#entries.get(key)?.entry.uid !== uid) return [];
    const before = this.#delete(key);
    return before === undefined ? [] : [deleted(before)];
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
      ...gone.map(({ entry }) => deleted(entry)),
      ...[...this.entries()].flatMap((entry) => difference(entry, old.get(entry.key)?.entry, true)),
    ];
  }

  #add(entry: Entry<T>): void {
    const { max, weigh } = this.#retention;
    const weight = Math.max(weigh(entry.object), Math.floor(max.bytes / max.count));
    const name = namespaceOf(entry.key);
    const group = this.#groups.get(name) ?? { keys: new Set(), bytes: 0 };
    this.#groups.set(name, group);
    group.keys.add(entry.key);
    group.bytes += weight;
    this.#entries.set(entry.key, { entry, weight });
    this.#bytes += weight;
  }

  #delete(key: string): Entry<T> | undefined {
    const item = this.#entries.get(key);
    if (item === undefined) return undefined;
    this.#entries.delete(key);
    this.#bytes -= item.weight;
    const name = namespaceOf(key);
    const group = this.#groups.get(name);
    if (group !== undefined) {
      group.keys.delete(key);
      group.bytes -= item.weight;
      if (group.keys.size === 0) this.#groups.delete(name);
    }
    return item.entry;
  }

  /** @returns the entries that it dropped */
  #shrink(): Entry<T>[] {
    const dropped: Entry<T>[] = [];
    while (this.#bytes > this.#retention.max.bytes) {
      let largest: Group | undefined;
      for (const group of this.#groups.values()) {
        if (largest === undefined || group.bytes > largest.bytes) largest = group;
      }
      const [oldest = ''] = largest?.keys ?? [];
      const entry = this.#delete(oldest);
      if (entry === undefined) break;
      dropped.push(entry);
    }
    this.#leftOut += dropped.length;
    return dropped;
  }
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

function difference<T>(entry: Entry<T>, before: Entry<T> | undefined, listed: boolean): Change<T>[] {
  const { key, uid, object } = entry;
  if (before === undefined) return [{ type: 'added', key, uid, object, listed }];
  if (before.uid !== uid) return [deleted(before), { type: 'added', key, uid, object, listed }];
  if (before.resourceVersion === entry.resourceVersion) return [];
  return [{ type: 'updated', key, uid, object, previous: before.object, listed }];
}

/** The deletion of an entry. */
export const deleted = <T>({ key, uid, object }: Entry<T>): Change<T> => ({
  type: 'deleted',
  key,
  uid,
  previous: object,
});
