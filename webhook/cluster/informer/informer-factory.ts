import type { ApiClient } from '../client.ts';
import { Informer, type InformerOptions } from './informer.ts';
import type { ApiObject, Source } from './object.ts';
import type { InformerDeps } from './report.ts';
import { type Change, deleted } from './store.ts';

/** Runs the informers of one cluster, and stops them together. */
export class InformerFactory {
  readonly #client: ApiClient;
  readonly #deps: InformerDeps;
  readonly #options: InformerOptions;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(client: ApiClient, deps: InformerDeps, options: InformerOptions = {}) {
    this.#client = client;
    this.#deps = { faults: new Map(), ...deps };
    this.#options = options;
  }

  /** Starts an informer, which runs until it is stopped or all are. */
  start<O extends ApiObject, T>(source: Source<O, T>): Informer<O, T> {
    const informer = new Informer(this.#client, source, this.#deps, this.#options);
    this.#deps.metrics.objects(source.resource, () => informer.store.size);
    this.#running.push(informer.run(this.#stop.signal));
    return informer;
  }

  /** Stops one informer. Its metrics go with it. */
  stop<O extends ApiObject, T>(informer: Informer<O, T>): void {
    informer.stop();
    this.#deps.metrics.forget(informer.source.resource);
  }

  /** Stops all of them. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

/** One informer for each of some sources, which come and go while it runs. */
export class InformerSet<O extends ApiObject, T> {
  readonly #informers: InformerFactory;
  readonly #changed: (changes: Change<T>[]) => void;
  readonly #byName = new Map<string, Informer<O, T>>();

  /** @param changed receives every change, and a deletion for each object of a source that is no longer watched */
  constructor(informers: InformerFactory, changed: (changes: Change<T>[]) => void = () => {}) {
    this.#informers = informers;
    this.#changed = changed;
  }

  /** Watches these sources, each by a name, and no others. A source that asks for something else starts again. */
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

  /** The informer of a source; undefined where the source is not watched. */
  get(name: string): Informer<O, T> | undefined {
    return this.#byName.get(name);
  }

  /** The names of the sources that have not been listed yet. */
  unsynced(): string[] {
    return [...this.#byName].filter(([, { synced }]) => !synced).map(([name]) => name);
  }

  /** Resolves when each source that is watched now has been listed, or was stopped before. */
  async whenSynced(): Promise<void> {
    await Promise.all(Array.from(this.#byName.values(), (informer) => informer.whenSynced()));
  }

  /** The objects of all sources. */
  *list(): Generator<T, void, undefined> {
    for (const { store } of this.#byName.values()) yield* store.list();
  }
}

const requestOf = ({ path, query }: Pick<Source<never, unknown>, 'path' | 'query'>): string =>
  JSON.stringify([path, query]);
