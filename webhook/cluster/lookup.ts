import { lookups } from '../lib/limits.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import type { ApiClient } from './client.ts';
import { ClusterError, operationText } from './errors.ts';

/** The values of a metric's label. `limited` means that no request was sent, because of a limit. */
export type LookupResult = 'found' | 'absent' | 'failed' | 'limited';

/** Times are in milliseconds. */
export const defaultLimits = {
  /** The longest time until the answer, including the wait for other requests. */
  bound: 5000,
  /** How long an answer is used again, including the answer that the object does not exist. */
  remember: 1000,
  ...lookups,
};
export type LookupLimits = typeof defaultLimits;

export interface Asked<O, T> {
  client: ApiClient;
  path: (key: string) => string;
  pick: (object: O) => T;
}

/**
 * Requests single objects that no watch has reported yet. Concurrent calls for one key share a request. Callers may
 * make up names, so the rate and the number of requests have limits.
 */
export class Lookup<O, T> {
  readonly #asked: Asked<O, T>;
  readonly #onResult: (result: LookupResult) => void;
  readonly #limits: LookupLimits;
  readonly #answers = new Map<string, Promise<T | undefined>>();
  readonly #rate: TokenBucket;
  readonly #inFlight: Semaphore;

  constructor(
    asked: Asked<O, T>,
    onResult: (result: LookupResult) => void = () => {},
    limits: LookupLimits = defaultLimits,
  ) {
    this.#asked = asked;
    this.#onResult = onResult;
    this.#limits = limits;
    this.#rate = new TokenBucket(limits.perSecond, limits.burst);
    this.#inFlight = new Semaphore(limits.inFlight);
  }

  /**
   * Returns the picked part of an object; undefined if the object does not exist.
   * @throws ClusterError if no answer comes, the object is too large, or there are too many requests
   */
  ask(key: string): Promise<T | undefined> {
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    if (this.#rate.left(performance.now()) < 1) return Promise.reject(this.#busy(key));
    this.#rate.take(1);
    const answer = this.#ask(key);
    this.#answers.set(key, answer);
    const forget = (): boolean => this.#answers.delete(key);
    answer.then(() => setTimeout(forget, this.#limits.remember).unref(), forget);
    return answer;
  }

  async #ask(key: string): Promise<T | undefined> {
    const { client, path, pick } = this.#asked;
    const { bound } = this.#limits;
    const start = performance.now();
    if (!(await this.#inFlight.take(bound))) throw this.#busy(key);
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(start + bound - performance.now())));
    try {
      const object = await client.get<O>(path(key), { signal });
      this.#onResult(object === undefined ? 'absent' : 'found');
      return object && pick(object);
    } catch (error) {
      this.#onResult('failed');
      if (!signal.aborted) throw error;
      // the connection of this request may be dead
      client.dropConnections();
      const message = `${this.#cannot(key)}: no answer of the API server within ${bound} ms`;
      throw new ClusterError('CNI_GATE_CLUSTER_UNREACHABLE', message, { cause: error });
    } finally {
      this.#inFlight.give();
    }
  }

  #busy(key: string): ClusterError {
    this.#onResult('limited');
    const message = `${this.#cannot(key)}: too many requests to the API server`;
    return new ClusterError('CNI_GATE_CLUSTER_BUSY', message, {});
  }

  #cannot(key: string): string {
    return `cannot ${operationText('GET', this.#asked.path(key))}`;
  }
}
