import { Kept } from './kept.ts';
import type { Entry } from './object.ts';
import type { Keeping } from './source.ts';

/**
 * A difference, to be applied in order. `listed`: it comes from a list, which has only the latest version of an object;
 * events have every version.
 */
export type Change<T> =
  | { type: 'added'; key: string; uid: string; object: T; listed: boolean }
  | { type: 'updated'; key: string; uid: string; object: T; previous: T; listed: boolean }
  /** `missed`: there was no event of the deletion; the next list did not have the object. */
  | { type: 'deleted'; key: string; uid: string; previous: T; missed: boolean };

/** The last known objects, by key. Pure: it only computes what a list or an event changes. */
export class Store<T> {
  readonly #keeping: Keeping<T> | undefined;
  #entries: Kept<T>;

  /** @param keeping how much is kept; all of it by default */
  constructor(keeping?: Keeping<T>) {
    this.#keeping = keeping;
    this.#entries = new Kept(keeping);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The weight of all objects in bytes; zero where they are not weighed. */
  get bytes(): number {
    return this.#entries.bytes;
  }

  /** How many objects were dropped since the last list because there were too many. */
  get leftOut(): number {
    return this.#entries.leftOut;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.object;
  }

  entries(): Iterable<Entry<T>> {
    return this.#entries;
  }

  *list(): Generator<T, void, undefined> {
    for (const { object } of this.#entries) yield object;
  }

  /** Adds or replaces an object within the limits: others may be dropped for it, or the object itself is not kept. */
  put(entry: Entry<T>): Change<T>[] {
    const before = this.#entries.get(entry.key);
    const given = this.#entries.put(entry);
    const others = given.filter((one) => one !== entry).map((one) => deleted(one, true));
    if (others.length === given.length) return [...others, ...difference(entry, before, false)];
    return before === undefined ? others : [deleted(before, true), ...others];
  }

  /** Removes an object that was deleted; an object with the same name and another UID stays. */
  remove(key: string, uid: string): Change<T>[] {
    const before = this.#entries.get(key);
    if (before?.uid !== uid) return [];
    this.#entries.delete(key);
    return [deleted(before, false)];
  }

  /** Removes an object that is no longer known, though it may still exist. */
  drop(key: string): Change<T>[] {
    const before = this.#entries.delete(key);
    return before === undefined ? [] : [deleted(before, true)];
  }

  /** Replaces everything by a list. */
  replace(entries: Iterable<Entry<T>>): Change<T>[] {
    const old = this.#entries;
    this.#entries = entries instanceof Kept ? entries : this.#keptOf(entries);
    const gone = [...old].filter(({ key }) => this.#entries.get(key) === undefined);
    return [
      ...gone.map((entry) => deleted(entry, true)),
      ...[...this.#entries].flatMap((entry) => difference(entry, old.get(entry.key), true)),
    ];
  }

  #keptOf(entries: Iterable<Entry<T>>): Kept<T> {
    const kept = new Kept(this.#keeping);
    for (const entry of entries) kept.put(entry);
    return kept;
  }
}

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
