import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../client.ts';
import { listAll } from './list-all.ts';
import { type ApiObject, keyOf, type LeftOut, type Source } from './object.ts';
import {
  type Action,
  defaultTiming,
  type End,
  endBy,
  isRegular,
  type Reason,
  Retry,
  type Timing,
} from './retry.ts';
import { type Change, type Lister, Store } from './store.ts';
import { type WatchEvent, watchOnce } from './watch.ts';

/** Receives what happens to an informer. No method may throw. */
export interface Observer {
  /** The API server sent something. */
  contact(): void;
  /** A list or watch ended, and `wait` milliseconds later the next one starts. `error` is set after a failure. */
  ended(ended: { during: Action; reason: Reason; wait: number; error?: unknown }): void;
  /** An object exists and is not kept here; `key` is its name. */
  leftOut?(why: LeftOut, key: string): void;
}

/** Options of a {@link Informer}. */
export interface InformerOptions {
  observer?: Observer;
  timing?: Partial<Timing>;
  /** Between 0 and 1, for jitter. */
  random?: () => number;
}

/** How many names of objects that are too large are kept: most callers ask only whether there is any. */
const mostTooLarge = 1000;

/**
 * Keeps a store equal to what a cluster has: it lists, then watches from there, and retries after any failure. Readers
 * use {@link store} at any time; while the cluster cannot be reached, the store has the last known objects.
 */
export class Informer<O extends ApiObject, T> implements Lister<T> {
  readonly store: Store<T>;
  readonly source: Source<O, T>;
  readonly #client: ApiClient;
  readonly #observer: Observer | undefined;
  readonly #timing: Timing;
  readonly #random: () => number;
  readonly #subscribers = new Set<(changes: Change<T>[]) => void>();
  readonly #synced = Promise.withResolvers<void>();
  readonly #stopped = new AbortController();
  #isSynced = false;
  #version = '';
  #tooLarge = new Set<string>();
  #stale = new AbortController();
  #lastError: unknown;
  #heardAt = Number.NEGATIVE_INFINITY;
  #isBehind = false;

  constructor(client: ApiClient, source: Source<O, T>, options: InformerOptions = {}) {
    this.source = source;
    this.store = new Store(source.retention);
    this.#client = client;
    this.#observer = options.observer;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#random = options.random ?? Math.random;
  }

  /** Whether everything was listed once. An outage does not change it: what is known stays known. */
  get synced(): boolean {
    return this.#isSynced;
  }

  /** When the store was last known to be up to date, by `performance.now()`: at a list, an event, or the end of a watch. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Whether events may be old: a list or a watch failed, and none has ended as it should since. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether any object is too large to be read. Its absence from the store means nothing. */
  get hasTooLarge(): boolean {
    return this.#tooLarge.size > 0;
  }

  /** Lists everything again, as when other objects matter now. */
  relist(): void {
    this.#stale.abort();
  }

  /** Resolves when everything was listed once, or when the informer was stopped before that. */
  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  /** The error of the last attempt; undefined after a success. */
  get lastError(): unknown {
    return this.#lastError;
  }

  subscribe(subscriber: (changes: Change<T>[]) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Ends {@link run}. */
  stop(): void {
    this.#stopped.abort();
    this.#synced.resolve();
  }

  /** Runs until it is stopped or the signal is aborted. Never throws. */
  async run(ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, this.#stopped.signal]);
    const retry = new Retry(this.#timing, this.#random);
    let during: Action = 'list';
    while (!signal.aborted) {
      const end = await (during === 'list' ? this.#list(signal) : this.#watch(signal));
      if (signal.aborted) return;
      const { reason, error } = end;
      const { action, wait } = retry.next(during, end);
      this.#lastError = error;
      this.#isBehind = !isRegular(end);
      if (!this.#isBehind) this.#heardAt = performance.now();
      this.#observer?.ended({ during, reason, wait, error });
      during = action;
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }

  async #list(signal: AbortSignal): Promise<End> {
    this.#stale = new AbortController();
    const tooLarge = new Set<string>();
    try {
      const { store, resourceVersion } = await listAll(this.#client, this.source, {
        timeout: this.#timing.answer,
        signal,
        onPage: () => this.#observer?.contact(),
        onUnread: ({ why, metadata }) => this.#leave(why, keyOf(metadata), tooLarge),
      });
      this.#version = resourceVersion;
      this.#tooLarge = tooLarge;
      if (store.leftOut > 0) this.#observer?.leftOut?.('too-many', `${store.leftOut} objects`);
      this.#tell(this.store.replace(store));
      this.#isSynced = true;
      this.#synced.resolve();
      return { reason: 'listed' };
    } catch (error) {
      return endBy(error, false);
    }
  }

  async #watch(signal: AbortSignal): Promise<End> {
    const end = await watchOnce(this.#client, this.source, {
      resourceVersion: this.#version,
      timing: this.#timing,
      random: this.#random(),
      signal: AbortSignal.any([signal, this.#stale.signal]),
      onOpen: () => {
        this.#lastError = undefined;
        this.#observer?.contact();
      },
      onEvent: (event) => this.#take(event),
    });
    if (end.reason === 'ended') this.#observer?.contact();
    return end;
  }

  #take(event: Exclude<WatchEvent<T>, { type: 'error' }>): void {
    this.#observer?.contact();
    this.#heardAt = performance.now();
    if (event.type === 'bookmark') {
      this.#version = event.resourceVersion;
      return;
    }
    const changes = this.#changesBy(event);
    this.#version = (event.type === 'put' ? event.entry : event.metadata).resourceVersion;
    this.#tell(changes);
  }

  #changesBy(event: Extract<WatchEvent<T>, { type: 'put' | 'unread' | 'removed' }>): Change<T>[] {
    const { store } = this;
    const key = event.type === 'put' ? event.entry.key : keyOf(event.metadata);
    this.#tooLarge.delete(key);
    if (event.type === 'removed') return store.remove(key, event.metadata.uid);
    if (event.type === 'unread') {
      this.#leave(event.why, key);
      return store.drop(key);
    }
    const before = store.leftOut;
    const changes = store.put(event.entry);
    if (store.leftOut > before) this.#observer?.leftOut?.('too-many', key);
    return changes;
  }

  #leave(why: LeftOut, key: string, tooLarge = this.#tooLarge): void {
    if (why === 'too-large' && tooLarge.size < mostTooLarge) tooLarge.add(key);
    this.#observer?.leftOut?.(why, key);
  }

  #tell(changes: Change<T>[]): void {
    if (changes.length === 0) return;
    for (const subscriber of this.#subscribers) subscriber(changes);
  }
}
