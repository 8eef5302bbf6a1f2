import { getOrMake } from '../../lib/maps.ts';
import type { Entry, Retention } from './object.ts';

/** `listed`: whether the change comes from a list, which shows only the latest version of an object. */
export type Change<T> =
  | { type: 'added'; key: string; uid: string; object: T; listed: boolean }
  | { type: 'updated'; key: string; uid: string; object: T; previous: T; listed: boolean }
  | { type: 'deleted'; key: string; uid: string; previous: T };

/** The entries of one namespace, in the order of their last change. */
interface Group<T> {
  entries: Map<string, Entry<T>>;
  bytes: number;
}

/**
 * The last known objects, within a limit of bytes. Above the limit, the namespace with the most bytes loses the objects
 * that have been unchanged for the longest time, so that no tenant displaces the objects of others. Each object counts
 * as at least `max.bytes / max.count` bytes, which also limits the number of objects.
 */
export class Store<T> {
  readonly #retention: Retention<T> | undefined;
  #groups = new Map<string, Group<T>>();
  #bytes = 0;
  #leftOut = 0;

  constructor(retention?: Retention<T>) {
    this.#retention = retention;
  }

  get size(): number {
    return [...this.#groups.values()].reduce((total, { entries }) => total + entries.size, 0);
  }

  /** How many objects the limit has displaced since the last list. */
  get leftOut(): number {
    return this.#leftOut;
  }

  get(key: string): T | undefined {
    return this.#entry(key)?.object;
  }

  *entries(): Generator<Entry<T>, void, undefined> {
    for (const { entries } of this.#groups.values()) yield* entries.values();
  }

  *list(): Generator<T, void, undefined> {
    for (const { object } of this.entries()) yield object;
  }

  /** Adds or replaces an object. The limit may displace other objects or this one. */
  put(entry: Entry<T>): Change<T>[] {
    const before = this.#delete(entry.key);
    const group = getOrMake(this.#groups, namespaceOf(entry.key), () => ({ entries: new Map(), bytes: 0 }));
    group.entries.set(entry.key, entry);
    this.#weigh(group, entry, 1);
    const dropped = this.#shrink();
    if (dropped.at(-1) !== entry) return [...dropped.map(deleted), ...difference(entry, before, false)];
    return [...(before === undefined ? [] : [before]), ...dropped.slice(0, -1)].map(deleted);
  }

  remove(key: string): Change<T>[] {
    const before = this.#delete(key);
    return before === undefined ? [] : [deleted(before)];
  }

  /** Replaces all objects with those of a list. */
  replace(listed: Store<T>): Change<T>[] {
    const before = new Map(Array.from(this.entries(), (entry) => [entry.key, entry]));
    this.#groups = listed.#groups;
    this.#bytes = listed.#bytes;
    this.#leftOut = listed.#leftOut;
    const gone = [...before.values()].filter(({ key }) => this.#entry(key) === undefined);
    return [
      ...gone.map(deleted),
      ...[...this.entries()].flatMap((entry) => difference(entry, before.get(entry.key), true)),
    ];
  }

  #entry(key: string): Entry<T> | undefined {
    return this.#groups.get(namespaceOf(key))?.entries.get(key);
  }

  #weigh(group: Group<T>, { object }: Entry<T>, sign: 1 | -1): void {
    if (this.#retention === undefined) return;
    const { max, weigh } = this.#retention;
    const weight = sign * Math.max(weigh(object), Math.floor(max.bytes / max.count));
    group.bytes += weight;
    this.#bytes += weight;
  }

  #delete(key: string): Entry<T> | undefined {
    const namespace = namespaceOf(key);
    const group = this.#groups.get(namespace);
    const entry = group?.entries.get(key);
    if (group === undefined || entry === undefined) return undefined;
    group.entries.delete(key);
    if (group.entries.size === 0) this.#groups.delete(namespace);
    this.#weigh(group, entry, -1);
    return entry;
  }

  #shrink(): Entry<T>[] {
    const dropped: Entry<T>[] = [];
    while (this.#retention !== undefined && this.#bytes > this.#retention.max.bytes) {
      const groups = [...this.#groups.values()];
      const largest = groups.reduce((most, group) => (group.bytes > most.bytes ? group : most));
      const [oldest = ''] = largest.entries.keys();
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

export const deleted = <T>({ key, uid, object }: Entry<T>): Change<T> => ({
  type: 'deleted',
  key,
  uid,
  previous: object,
});
