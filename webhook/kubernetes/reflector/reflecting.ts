import type { Log } from '../../lib/deps.ts';
import type { ApiClient } from '../client.ts';
import type { ClusterMetrics } from '../metrics.ts';
import type { Source } from './list-all.ts';
import type { ApiObject } from './object.ts';
import { observe } from './observe.ts';
import type { Reflection } from './reflections.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';

/** Who is told, and where it is counted. */
export interface Inside {
  metrics: ClusterMetrics;
  log: Log;
}

/** Starts reflectors of one cluster that are counted and logged, and ends them together. */
export class Reflecting {
  readonly #client: ApiClient;
  readonly #inside: Inside;
  readonly #options: Omit<ReflectorOptions, 'observer'>;
  readonly #stop = new AbortController();
  readonly #over = new Set<Promise<void>>();

  constructor(client: ApiClient, inside: Inside, options: Omit<ReflectorOptions, 'observer'> = {}) {
    this.#client = client;
    this.#inside = inside;
    this.#options = options;
  }

  /** Starts one that runs until all are ended. */
  start<O extends ApiObject, T>(source: Source<O, T>, signal = this.#stop.signal): Reflector<O, T> {
    const { metrics, log } = this.#inside;
    const observer = observe(source.resource, metrics, log);
    const reflector = new Reflector(this.#client, source, { ...this.#options, observer });
    metrics.objects(source.resource, {
      count: () => reflector.store.size,
      ...(source.keeping !== undefined && { bytes: () => reflector.store.bytes }),
    });
    const over = reflector.run(signal).finally(() => this.#over.delete(over));
    this.#over.add(over);
    return reflector;
  }

  /** Starts one that may be ended by itself. */
  startOne<O extends ApiObject, T>(source: Source<O, T>): Reflection<T> {
    const ended = new AbortController();
    const stopped = Promise.withResolvers<void>();
    const reflector = this.start(source, AbortSignal.any([this.#stop.signal, ended.signal]));
    return {
      get synced() {
        return reflector.synced;
      },
      get heardAt() {
        return reflector.heardAt;
      },
      get isBehind() {
        return reflector.isBehind;
      },
      hasTooLarge: (key) => reflector.hasTooLarge(key),
      whenSynced: () => Promise.race([reflector.whenSynced(), stopped.promise]),
      subscribe: (subscriber) => reflector.subscribe(subscriber),
      entries: () => reflector.store.entries(),
      stop: () => {
        ended.abort();
        stopped.resolve();
        this.#inside.metrics.forget(source.resource);
      },
    };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#over);
  }
}
