import type { Source } from './list-all.ts';
import type { ApiObject } from './object.ts';
import type { Change } from './store.ts';

/** A running reflector. */
export interface Reflection<T> {
  readonly synced: boolean;
  /** When the API server last said all that there was to say: see the reflector's. */
  readonly heardAt: number;
  /** Whether what is told now may be old: see the reflector's. */
  readonly isBehind: boolean;
  /** Whether there is an object that is too large to be read: see the reflector's. */
  hasTooLarge(key?: string): boolean;
  /** Resolves when everything was listed once, or it was stopped before. */
  whenSynced(): Promise<void>;
  subscribe(subscriber: (changes: Change<T>[]) => void): () => void;
  entries(): Iterable<{ key: string; uid: string; object: T }>;
  stop(): void;
}

interface Running<T> {
  /** What is asked for. */
  asked: string;
  reflection: Reflection<T>;
}

/** Keeps one reflector for each of some sources, which come and go while it runs. */
export class Reflections<O extends ApiObject, T> {
  readonly #reflect: (source: Source<O, T>) => Reflection<T>;
  readonly #changed: (changes: Change<T>[]) => void;
  readonly #running = new Map<string, Running<T>>();

  /**
   * @param reflect starts a reflector
   * @param changed is told of every object; of a source that is not reflected any more, that its objects are gone
   */
  constructor(
    reflect: (source: Source<O, T>) => Reflection<T>,
    changed: (changes: Change<T>[]) => void = () => {},
  ) {
    this.#reflect = reflect;
    this.#changed = changed;
  }

  /** Reflects these sources, by a name for each, and no others. One that asks for something else begins anew. */
  watch(sources: ReadonlyMap<string, Source<O, T>>): void {
    for (const [name, { asked, reflection }] of this.#running) {
      const source = sources.get(name);
      if (source !== undefined && askedBy(source) === asked) continue;
      this.#running.delete(name);
      reflection.stop();
      this.#changed([...reflection.entries()].map(gone));
    }
    for (const [name, source] of sources) {
      if (this.#running.has(name)) continue;
      const reflection = this.#reflect(source);
      reflection.subscribe(this.#changed);
      this.#running.set(name, { asked: askedBy(source), reflection });
    }
  }

  /** Names of the sources that have not been listed yet. */
  unsynced(): string[] {
    return [...this.#running].filter(([, { reflection }]) => !reflection.synced).map(([name]) => name);
  }

  /** Whether a source is there and has not been listed yet. */
  isUnsynced(name: string): boolean {
    return this.#running.get(name)?.reflection.synced === false;
  }

  /** Whether a source has an object that is too large to be read. */
  hasTooLarge(name: string): boolean {
    return this.#running.get(name)?.reflection.hasTooLarge() === true;
  }

  /** Whether what is told of any source may be old. */
  get isBehind(): boolean {
    return [...this.#running.values()].some(({ reflection }) => reflection.isBehind);
  }

  /** When the API server last said all that there was to say of a source; undefined where that is not reflected. */
  heardAt(name: string): number | undefined {
    return this.#running.get(name)?.reflection.heardAt;
  }

  /** Resolves when all of those that are reflected now have been listed, or stopped before. */
  async whenSynced(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ reflection }) => reflection.whenSynced()));
  }

  /** The objects of all sources. */
  *list(): Generator<T, void, undefined> {
    for (const { reflection } of this.#running.values()) {
      for (const { object } of reflection.entries()) yield object;
    }
  }
}

const askedBy = ({ path, query }: { path: string; query?: Record<string, string> }): string =>
  JSON.stringify([path, query]);

const gone = <T>({ key, uid, object }: { key: string; uid: string; object: T }): Change<T> => ({
  type: 'deleted',
  key,
  uid,
  previous: object,
  missed: true,
});
