import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ApiClient } from '../client.ts';
import type { ClusterMetrics } from '../metrics.ts';
import type { ApiObject, Entry } from './object.ts';
import { type Observer, Reflector, type ReflectorOptions } from './reflector.ts';
import type { LeftOut, Source } from './source.ts';
import type { Change } from './store.ts';

/** Where reflectors report to. */
export interface Inside {
  metrics: ClusterMetrics;
  log: Log;
}

/** Runs the reflectors of one cluster, counts and logs what they report, and stops them together. */
export class Reflectors {
  readonly #client: ApiClient;
  readonly #inside: Inside;
  readonly #options: Omit<ReflectorOptions, 'observer'>;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(client: ApiClient, inside: Inside, options: Omit<ReflectorOptions, 'observer'> = {}) {
    this.#client = client;
    this.#inside = inside;
    this.#options = options;
  }

  /** Starts a reflector, which runs until it is stopped or all are. */
  start<O extends ApiObject, T>(source: Source<O, T>): Reflector<O, T> {
    const observer = observerOf(source.resource, this.#inside);
    const reflector = new Reflector(this.#client, source, { ...this.#options, observer });
    this.#inside.metrics.objects(source.resource, {
      count: () => reflector.store.size,
      ...(source.keeping !== undefined && { bytes: () => reflector.store.bytes }),
    });
    const running = reflector.run(this.#stop.signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return reflector;
  }

  /** Stops one reflector. Its metrics go with it. */
  stop<O extends ApiObject, T>(reflector: Reflector<O, T>): void {
    reflector.stop();
    this.#inside.metrics.forget(reflector.source.resource);
  }

  /** Stops all of them. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

/** One reflector for each of some sources, which come and go while it runs. */
export class ReflectorSet<O extends ApiObject, T> {
  readonly #reflectors: Reflectors;
  readonly #changed: (changes: Change<T>[]) => void;
  readonly #byName = new Map<string, Reflector<O, T>>();

  /** @param changed receives every change, and a deletion for each object of a source that is no longer watched */
  constructor(reflectors: Reflectors, changed: (changes: Change<T>[]) => void = () => {}) {
    this.#reflectors = reflectors;
    this.#changed = changed;
  }

  /** Watches these sources, each by a name, and no others. A source that asks for something else starts again. */
  watch(sources: ReadonlyMap<string, Source<O, T>>): void {
    for (const [name, reflector] of this.#byName) {
      const source = sources.get(name);
      if (source !== undefined && requestOf(source) === requestOf(reflector.source)) continue;
      this.#byName.delete(name);
      this.#reflectors.stop(reflector);
      this.#changed(Array.from(reflector.store.entries(), gone));
    }
    for (const [name, source] of sources) {
      if (this.#byName.has(name)) continue;
      const reflector = this.#reflectors.start(source);
      reflector.subscribe(this.#changed);
      this.#byName.set(name, reflector);
    }
  }

  /** The reflector of a source; undefined where the source is not watched. */
  get(name: string): Reflector<O, T> | undefined {
    return this.#byName.get(name);
  }

  /** The names of the sources that have not been listed yet. */
  unsynced(): string[] {
    return [...this.#byName].filter(([, { synced }]) => !synced).map(([name]) => name);
  }

  /** Whether what is known of any source may be old. */
  get isBehind(): boolean {
    return [...this.#byName.values()].some(({ isBehind }) => isBehind);
  }

  /** Resolves when each source that is watched now has been listed, or was stopped before. */
  async whenSynced(): Promise<void> {
    await Promise.all(Array.from(this.#byName.values(), (reflector) => reflector.whenSynced()));
  }

  /** The objects of all sources. */
  *list(): Generator<T, void, undefined> {
    for (const { store } of this.#byName.values()) yield* store.list();
  }
}

const requestOf = ({ path, query }: Pick<Source<never, unknown>, 'path' | 'query'>): string =>
  JSON.stringify([path, query]);

const gone = <T>({ key, uid, object }: Entry<T>): Change<T> => ({
  type: 'deleted',
  key,
  uid,
  previous: object,
  missed: true,
});

/** Milliseconds between two log lines about objects of a resource that are left out: any user may create many of them. */
const logInterval = 60_000;

const leftOutText: Record<Exclude<LeftOut, 'not-wanted'>, string> = {
  'too-large': 'it is larger than cni-gate reads',
  'too-many': 'there are more than cni-gate keeps',
};

/** Counts what a reflector reports, and logs each new fault and its end. */
function observerOf(resource: string, { metrics, log }: Inside): Observer {
  let fault: string | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    contact: () => {
      metrics.contact(resource);
      if (fault === undefined) return;
      fault = undefined;
      log.info({ resource }, `the API server answers again about ${resource}`);
    },
    ended: ({ during, reason, wait, error }) => {
      metrics.ended(resource, during, reason);
      if (reason === 'listed' || reason === 'ended' || reason === 'stale') return;
      const problem = error === undefined ? `a watch of ${resource} was ${reason}` : messageOf(error);
      if (problem === fault) return;
      fault = problem;
      log.warn({ resource, during, reason, wait, err: error }, `${problem}; it is tried again`);
    },
    leftOut: (reason, key) => {
      metrics.leftOut(resource, reason);
      if (reason === 'not-wanted' || performance.now() - loggedAt < logInterval) return;
      loggedAt = performance.now();
      log.warn(
        { resource, object: key, reason },
        `${key} of ${resource} is not known here: ${leftOutText[reason]}`,
      );
    },
  };
}
