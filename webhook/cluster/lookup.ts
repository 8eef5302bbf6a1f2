import { lookups } from '../lib/limits.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import type { ApiClient } from './client.ts';
import { ClusterError, operationText } from './errors.ts';

/** The values of the metric's label `result`. `limited`: a limit prevented the request. */
export type LookupResult = 'found' | 'absent' | 'failed' | 'limited';

/** Times are in milliseconds. */
export const defaultLimits = {
  /** The maximum time until the answer, including the wait for earlier requests. */
  bound: 5000,
  /** How long an answer is reused, even if the object does not exist. */
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
 * Requests single objects that no watch has reported yet. Concurrent calls for one key share a request. The rate
 * and the number of requests are limited, because clients of the webhook can send invented names.
 * @returns a function that returns the picked part of an object; undefined if the object does not exist. It throws a
 *   ClusterError if there is no answer, the object is too large, or there are too many requests
 */
export function lookup<O, T>(
  { client, path, pick }: Asked<O, T>,
  onResult: (result: LookupResult) => void = () => {},
  { bound, remember, perSecond, burst, inFlight }: LookupLimits = defaultLimits,
): (key: string) => Promise<T | undefined> {
  const answers = new Map<string, Promise<T | undefined>>();
  const rate = new TokenBucket(perSecond, burst);
  const places = new Semaphore(inFlight);
  const cannot = (key: string): string => `cannot ${operationText('GET', path(key))}`;

  function busy(key: string): ClusterError {
    onResult('limited');
    return new ClusterError(
      'CNI_GATE_CLUSTER_BUSY',
      `${cannot(key)}: too many requests to the API server`,
      {},
    );
  }

  async function request(key: string): Promise<T | undefined> {
    const start = performance.now();
    if (!(await places.take(bound))) throw busy(key);
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(start + bound - performance.now())));
    try {
      const object = await client.get<O>(path(key), { signal });
      onResult(object === undefined ? 'absent' : 'found');
      return object && pick(object);
    } catch (error) {
      onResult('failed');
      if (!signal.aborted) throw error;
      // this connection may be dead
      client.dropConnections();
      const message = `${cannot(key)}: no answer from the API server within ${bound} ms`;
      throw new ClusterError('CNI_GATE_CLUSTER_UNREACHABLE', message, { cause: error });
    } finally {
      places.give();
    }
  }

  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (rate.left(performance.now()) < 1) return Promise.reject(busy(key));
    rate.take(1);
    const answer = request(key);
    answers.set(key, answer);
    const forget = (): boolean => answers.delete(key);
    answer.then(() => setTimeout(forget, remember).unref(), forget);
    return answer;
  };
}
