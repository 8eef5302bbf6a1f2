import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { listAll } from '../../cluster/informer/list-all.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';

/** Something that was asked of the cluster: what it is, that it does not exist, or why that is not known. */
export type Observation<T> = { found: T } | 'absent' | { unknown: Unknown };

/** Why something is not known. */
export interface Unknown {
  why: string;
  /** Whether a right is missing. Otherwise the cluster does not have the answer. */
  forbidden: boolean;
  /** That right, as RBAC names it; absent where the answer does not say. */
  right?: string;
}

/** Of what was asked, what is there. */
export const foundIn = <T>(seen: Observation<T>): T | undefined =>
  typeof seen === 'object' && 'found' in seen ? seen.found : undefined;

/** Why it is not known whether something is there. */
export const unknownIn = (seen: Observation<unknown>): Unknown | undefined =>
  typeof seen === 'object' && 'unknown' in seen ? seen.unknown : undefined;

/** The same with a part of what was found. */
export const mapObservation = <T, P>(seen: Observation<T>, pick: (found: T) => P): Observation<P> =>
  typeof seen === 'object' && 'found' in seen ? { found: pick(seen.found) } : seen;

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
      return { unknown: { why: `${what} may not be read`, forbidden: true, ...(right && { right }) } };
    }
    throw error;
  }
}

/** The answer to a request; undefined where the caller has no right to it: the rest of a status is worth having. */
export const ifAllowed = async <T>(asked: Promise<T>): Promise<T | undefined> =>
  foundIn(await observe(asked, 'it'));

/** How many requests of {@link mapEach} run at a time: more would only wait for each other at the API server. */
const atATime = 4;

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
  const { store } = await listAll(client, source);
  return [...store.list()];
}

/** Lists the objects of many sources, some at a time. @throws ClusterError */
export const readLists = async <O extends ApiObject, T>(
  client: ApiClient,
  sources: Iterable<Source<O, T>>,
): Promise<T[]> => (await mapEach(sources, (source) => readList(client, source))).flat();

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
