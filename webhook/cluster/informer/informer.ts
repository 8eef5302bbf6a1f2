import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import { Silence } from '../exchange.ts';
import type { Ended } from '../metrics.ts';
import { listAll } from './list-all.ts';
import type { ApiObject, Source } from './object.ts';
import { type InformerDeps, reportOf } from './report.ts';
import { type Change, Store } from './store.ts';
import { type WatchEvent, watchOnce } from './watch.ts';

/** All times are in milliseconds. */
const defaultTiming = {
  /** The duration of a watch, plus a random part of up to a third (docs/decisions/kubernetes-client.md). */
  watch: 15_000,
  /** How late a watch may end before its connection counts as dead. */
  grace: 3000,
  /** The longest silence before an answer, and between two chunks of an answer. */
  answer: 10_000,
  /** The wait after the first failure. Each further failure doubles the wait. */
  backoff: 250,
  longestBackoff: 8000,
};

/** Times that replace the defaults. Tests use shorter times. */
export type Timing = Partial<typeof defaultTiming>;

/**
 * After this many consecutive failures to reach the API server, all objects are listed again: etcd may have been
 * restored from a backup, and a watch from a `resourceVersion` in the future gets no error (seen in Kubernetes 1.36).
 */
const lostAfter = 4;

/**
 * Keeps a store in sync with the objects of a cluster, by a list and then by watches. During an outage, the store keeps
 * the last known objects.
 */
export class Informer<O extends ApiObject, T> {
  readonly store: Store<T>;
  readonly source: Source<O, T>;
  readonly #client: ApiClient;
  readonly #report: ReturnType<typeof reportOf>;
  readonly #timing: typeof defaultTiming;
  readonly #subscribers = new Set<(changes: Change<T>[]) => void>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #stopped = new AbortController();
  #isSynced = false;
  /** The resourceVersion from which to watch; undefined if all objects must be listed first. */
  #version: string | undefined;
  /** How many lists and watches have failed since a watch last worked. */
  #failures = 0;
  #stale = new AbortController();

  constructor(client: ApiClient, source: Source<O, T>, deps: InformerDeps, timing: Timing = {}) {
    this.source = source;
    this.store = new Store(source.retention);
    this.#client = client;
    this.#report = reportOf(source.resource, deps);
    this.#timing = { ...defaultTiming, ...timing };
  }

  /** Whether all objects were listed once. It stays true during a later outage. */
  get synced(): boolean {
    return this.#isSynced;
  }

  relist(): void {
    this.#stale.abort();
  }

  /** Resolves after the first successful list, or when the informer is stopped. */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  get fault(): string | undefined {
    return this.#report.fault;
  }

  /** Calls `subscriber` with the changes of each event, and once with all changes of a list. */
  subscribe(subscriber: (changes: Change<T>[]) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  stop(): void {
    this.#stopped.abort();
    this.#synced.resolve();
  }

  /** Never throws. */
  async run(ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, this.#stopped.signal]);
    while (!signal.aborted) {
      const during = this.#version === undefined ? 'list' : 'watch';
      let error: unknown;
      try {
        if (this.#version === undefined) await this.#list(signal);
        else await this.#watch(this.#version, signal);
      } catch (thrown) {
        error = thrown;
      }
      if (signal.aborted) return;
      if (this.#stale.signal.aborted) {
        this.#version = undefined;
        if (during === 'watch') error = undefined;
      }
      const wait = error === undefined ? 0 : this.#waitAfter(error);
      this.#report.ended({ during, reason: reasonOf(error), wait, error });
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Forgets the version if a watch cannot continue from it.
   * @returns milliseconds until the next attempt, with jitter, so that replicas that failed at the same time do not
   *   retry at the same time
   */
  #waitAfter(error: unknown): number {
    this.#failures += 1;
    const known = error instanceof ClusterError ? error : undefined;
    const status = known?.status;
    // 400: the API server does not know the version, for example because etcd was replaced
    const isLost = status === undefined ? this.#failures >= lostAfter : status === 400 || status === 410;
    if (known === undefined || isLost) this.#version = undefined;
    const { backoff, longestBackoff } = this.#timing;
    const longest = Math.min(backoff * 2 ** (this.#failures - 1), longestBackoff);
    return longest * (0.5 + Math.random() / 2);
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.#stale = new AbortController();
    const { store, resourceVersion } = await listAll(this.#client, this.source, {
      timeout: this.#timing.answer,
      signal,
      onPage: () => this.#report.contact(),
      onUnread: ({ why, key }) => this.#report.leftOut(why, key),
    });
    this.#version = resourceVersion;
    if (store.leftOut > 0) this.#report.leftOut('too-many', `${store.leftOut} objects`);
    this.#tell(this.store.replace(store));
    this.#isSynced = true;
    this.#synced.resolve();
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { watch, grace, answer } = this.#timing;
    await watchOnce(this.#client, this.source, {
      resourceVersion,
      // the API accepts whole seconds only
      seconds: Math.max(1, Math.round((watch * (1 + Math.random() / 3)) / 1000)),
      grace,
      timeout: answer,
      signal: AbortSignal.any([signal, this.#stale.signal]),
      onOpen: () => this.#report.contact(),
      onEvent: (event) => this.#take(event),
    });
    // only a watch resets the counter: if lists did, working lists and failing watches would alternate without a wait
    this.#failures = 0;
  }

  #take(event: WatchEvent<T>): void {
    this.#failures = 0;
    this.#report.contact();
    if (event.type === 'bookmark') {
      this.#version = event.resourceVersion;
      return;
    }
    const changes = this.#changesBy(event);
    this.#version = event.entry.resourceVersion;
    this.#tell(changes);
  }

  #changesBy({ type, entry }: Exclude<WatchEvent<T>, { type: 'bookmark' }>): Change<T>[] {
    const { store } = this;
    if (type === 'removed') return store.remove(entry.key);
    if ('why' in entry) {
      this.#report.leftOut(entry.why, entry.key);
      return store.remove(entry.key);
    }
    const before = store.leftOut;
    const changes = store.put(entry);
    if (store.leftOut > before) this.#report.leftOut('too-many', entry.key);
    return changes;
  }

  #tell(changes: Change<T>[]): void {
    if (changes.length === 0) return;
    for (const subscriber of this.#subscribers) subscriber(changes);
  }
}

function reasonOf(error: unknown): Ended['reason'] {
  if (error === undefined) return 'ended';
  if (error instanceof ClusterError && error.status === 410) return 'expired';
  return error instanceof ClusterError && error.cause instanceof Silence ? 'silent' : 'failed';
}
