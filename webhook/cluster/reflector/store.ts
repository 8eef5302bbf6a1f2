import type { Entry } from './object.ts';

/**
 * What became different, in the order in which it has to be applied. `listed`: a list told of it, which has the latest
 * version of an object and nothing of what it went through; an event tells of each change by the version it made.
 */
export type Change<T> =
  | { type: 'added'; key: string; uid: string; object: T; listed: boolean }
  | { type: 'updated'; key: string; uid: string; object: T; previous: T; listed: boolean }
  /** `missed`: nobody told of the deletion; the object was not there any more when everything was listed anew. */
  | { type: 'deleted'; key: string; uid: string; previous: T; missed: boolean };

/** The objects as they were last told, by key. Pure: it only says what a list or an event changes. */
export class Store<T> {
  #entries = new Map<string, Entry<T>>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.object;
  }

  entries(): Iterable<Entry<T>> {
    return this.#entries.values();
  }

  *list(): Generator<T, void, undefined> {
    for (const { object } of this.#entries.values()) yield object;
  }

  /** Takes an object that is there now. */
  put(entry: Entry<T>): Change<T>[] {
    const before = this.#entries.get(entry.key);
    this.#entries.set(entry.key, entry);
    return difference(entry, before, false);
  }

  /** Takes away an object that was deleted; `uid` guards its successor of the same name. */
  remove(key: string, uid: string): Change<T>[] {
    const before = this.#entries.get(key);
    if (before?.uid !== uid) return [];
    this.#entries.delete(key);
    return [deleted(before, false)];
  }

  /** Takes a whole list in place of what there was. */
  replace(entries: Iterable<Entry<T>>): Change<T>[] {
    const old = this.#entries;
    this.#entries = new Map([...entries].map((entry) => [entry.key, entry]));
    const gone = [...old.values()].filter(({ key }) => !this.#entries.has(key));
    return [
      ...gone.map((entry) => deleted(entry, true)),
      ...[...this.#entries.values()].flatMap((entry) => difference(entry, old.get(entry.key), true)),
    ];
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
