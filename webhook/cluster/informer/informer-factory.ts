import type { ApiClient } from '../client.ts';
import { Informer, type Timing } from './informer.ts';
import type { ApiObject, Source } from './object.ts';
import type { InformerDeps } from './report.ts';
import { type Change, deleted } from './store.ts';

/** Runs all informers of a cluster, and stops them together. */
export class InformerFactory {
  readonly #client: ApiClient;
  readonly #deps: InformerDeps;
  readonly #timing: Timing | undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(client: ApiClient, deps: InformerDeps, timing?: Timing) {
    this.#client = client;
    this.#deps = deps;
    this.#timing = timing;
  }

  /** Starts an informer, which runs until it or the factory is stopped. */
  start<O extends ApiObject, T>(source: Source<O, T>): Informer<O, T> {
    const informer = new Informer(this.#client, source, this.#deps, this.#timing);
    this.#running.push(informer.run(this.#stop.signal));
    return informer;
  }

  stop<O extends ApiObject, T>(informer: Informer<O, T>): void {
    informer.stop();
    this.#deps.metrics.forget(informer.source.resource);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

/** Runs one informer for each source of a set. {@link watch} changes the set. */
export class InformerSet<O extends ApiObject, T> {
  readonly #informers: InformerFactory;
  readonly #changed: (changes: Change<T>[]) => void;
  readonly #byName = new Map<string, Informer<O, T>>();

  /** @param changed when a source is removed from the set, also receives a deletion of each of its objects */
  constructor(informers: InformerFactory, changed: (changes: Change<T>[]) => void = () => {}) {
    this.#informers = informers;
    this.#changed = changed;
  }

  /** Watches these sources and no others. A source with a changed request gets a new informer. */
  watch(sources: ReadonlyMap<string, Source<O, T>>): void {
    for (const [name, informer] of this.#byName) {
      const source = sources.get(name);
      if (source !== undefined && requestOf(source) === requestOf(informer.source)) continue;
      this.#byName.delete(name);
      this.#informers.stop(informer);
      this.#changed(Array.from(informer.store.entries(), deleted));
    }
    for (const [name, source] of sources) {
      if (this.#byName.has(name)) continue;
      const informer = this.#informers.start(source);
      informer.subscribe(this.#changed);
      this.#byName.set(name, informer);
    }
  }

  get(name: string): Informer<O, T> | undefined {
    return this.#byName.get(name);
  }

  unsynced(): string[] {
    return [...this.#byName].filter(([, { synced }]) => !synced).map(([name]) => name);
  }

  *list(): Generator<T, void, undefined> {
    for (const { store } of this.#byName.values()) yield* store.list();
  }
}

const requestOf = ({ path, query }: Pick<Source<never, unknown>, 'path' | 'query'>): string =>
  JSON.stringify([path, query]);
