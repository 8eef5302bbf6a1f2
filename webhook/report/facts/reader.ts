import type { ApiClient } from '../../cluster/client.ts';
import { listAll } from '../../cluster/informer/list-all.ts';
import type { ApiObject, Retention, Source } from '../../cluster/informer/object.ts';
import { defaultTiming } from '../../cluster/informer/retry.ts';
import { type Observation, observe } from './observation.ts';

/** How many requests of {@link mapEach} run at a time: more would only wait for each other at the API server. */
const atATime = 4;

/** Lists are not aborted: the end of a command closes the client. */
const { signal } = new AbortController();

/**
 * Reads one object.
 *
 * @param what its name in words, for where it may not be read
 * @throws ClusterError as `observe`
 */
export const readOne = <T>(client: ApiClient, path: string, what = 'it'): Promise<Observation<T>> =>
  observe(client.request<T>('GET', path), what);

/** Lists all objects of a source. @throws ClusterError */
export async function readList<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
): Promise<T[]> {
  const { store } = await listAll(client, source, { timeout: defaultTiming.answer, signal });
  return [...store.list()];
}

/** Lists the objects of many sources, some at a time. @throws ClusterError */
export const readLists = async <O extends ApiObject, T>(
  client: ApiClient,
  sources: Iterable<Source<O, T>>,
): Promise<T[]> => (await mapEach(sources, (source) => readList(client, source))).flat();

/** Keeps so many objects at most, of all writers. */
export const atMost = <T>(count: number): Retention<T> => ({
  max: { count, bytes: count },
  weigh: () => 0,
});

/** The results of the work for each value, in order; some of it at a time. */
export async function mapEach<T, R>(values: Iterable<T>, work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = [...values].entries();
  const worker = async (): Promise<void> => {
    // all workers take from the same iterator: what one has, no other gets
    for (const [at, value] of rest) results[at] = await work(value);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}
