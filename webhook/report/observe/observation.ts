import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { listAll } from '../../cluster/informer/list-all.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';

/** What a request found, or why that is not known. With neither, the object does not exist. */
export interface Observation<T> {
  found?: T;
  unknown?: Unknown;
}

/** Why something is not known. */
export interface Unknown {
  why: string;
  /** Whether a right is missing. Otherwise the cluster does not have the answer. */
  forbidden: boolean;
  /** That right, as RBAC names it; absent where the answer does not say. */
  right?: string;
}

/** The same with a part of what was found. */
export const mapFound = <T, P>({ found, unknown }: Observation<T>, pick: (found: T) => P): Observation<P> =>
  found === undefined ? { ...(unknown && { unknown }) } : { found: pick(found) };

/**
 * The answer to a request. A missing object and a missing right are answers as well.
 *
 * @param what for the case that it may not be read
 * @throws ClusterError for any other refusal, or where there was no answer
 */
export async function observed<T>(asked: Promise<T>, what: string): Promise<Observation<T>> {
  try {
    return { found: await asked };
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    const { status, missingRight: right } = error;
    if (status === 404) return {};
    if (status !== 403) throw error;
    return { unknown: { why: `${what} may not be read`, forbidden: true, ...(right && { right }) } };
  }
}

/** Reads one object; the rest is as for {@link observed}. */
export const readOne = <T>(client: ApiClient, path: string, what: string): Promise<Observation<T>> =>
  observed(client.request<T>('GET', path), what);

/** Lists the objects of sources. @throws ClusterError */
export const readLists = async <O extends ApiObject, T>(
  client: ApiClient,
  sources: Iterable<Source<O, T>>,
): Promise<T[]> =>
  (await mapEach(sources, async (source) => [...(await listAll(client, source)).store.list()])).flat();

/** The results of the work for each value, in order; four at a time, as more would wait for each other at the API server. */
export async function mapEach<T, R>(values: Iterable<T>, work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  // all workers take from the same iterator
  const rest = [...values].entries();
  const worker = async (): Promise<void> => {
    for (const [at, value] of rest) results[at] = await work(value);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return results;
}
