import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterError } from '../../kubernetes/errors.ts';
import { listAll } from '../../kubernetes/reflector/list-all.ts';
import { defaultTiming } from '../../kubernetes/reflector/next-step.ts';
import type { ApiObject } from '../../kubernetes/reflector/object.ts';
import type { Source } from '../../kubernetes/reflector/source.ts';
import { foundIn, type Observation } from '../installation/facts.ts';

/** How many requests of {@link eachOf} run at a time: more would only wait for each other at the API server. */
const atATime = 4;

/** Reads objects of a cluster, once each. */
export class ClusterReader {
  readonly client: ApiClient;
  readonly signal: AbortSignal;

  /** @param signal ends every request */
  constructor(client: ApiClient, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
  }

  /**
   * Reads one object.
   *
   * @param what its name in words, for where it may not be read
   * @throws ClusterError as {@link observe}
   */
  get<T>(path: string, what = 'it'): Promise<Observation<T>> {
    return observe(this.client.request<T>('GET', path, { signal: this.signal }), what);
  }

  /** Lists all objects of a source. @throws ClusterError */
  async list<O extends ApiObject, T>(source: Source<O, T>): Promise<T[]> {
    const options = { timeout: defaultTiming.answer, signal: this.signal, onPage: () => {} };
    const { entries } = await listAll(this.client, source, options);
    return Array.from(entries, ({ object }) => object);
  }
}

/**
 * The answer to a request. That an object does not exist, or that the caller has no right to it, is an answer as well.
 *
 * @param what its name in words, for where it may not be read
 * @throws ClusterError for any other refusal, or where there was no answer
 */
export async function observe<T>(asked: Promise<T>, what: string): Promise<Observation<T>> {
  try {
    return { found: await asked };
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return 'absent';
    if (error instanceof ClusterError && error.status === 403) {
      const { missingRight: right } = error;
      const unknown = { why: `${what} may not be read`, forbidden: true, ...(right && { right }) };
      return { unknown };
    }
    throw error;
  }
}

/** The answer to a request; undefined where the caller has no right to it: the rest of a status is worth having. */
export const ifAllowed = async <T>(asked: Promise<T>): Promise<T | undefined> =>
  foundIn(await observe(asked, 'it'));

/** Does the work for each value, some at a time. */
export async function eachOf<T>(values: Iterable<T>, work: (value: T) => Promise<void>): Promise<void> {
  const rest = values[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    // all workers take from the same iterator: what one has, no other gets
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
