import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { listAll } from '../../cluster/informer/list-all.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';

/** What a request found, or why the result is not known. If both fields are absent, the object does not exist. */
export interface Observation<T> {
  found?: T;
  unknown?: Unknown;
}

/** Why a result is not known: a right is missing. */
export interface Unknown {
  why: string;
  /** The missing right, in the words of RBAC; absent if the API server's answer does not name the right. */
  right?: string | undefined;
}

/** Replaces the found object by a part of it. */
export const mapFound = <T, P>({ found, unknown }: Observation<T>, pick: (found: T) => P): Observation<P> =>
  found === undefined ? { ...(unknown && { unknown }) } : { found: pick(found) };

/**
 * Turns the answer to a request into an observation. "Not found" and "forbidden" count as answers.
 *
 * @param what names the object in the message about a missing right
 * @throws ClusterError for any other refusal, or if there was no answer
 */
export async function observed<T>(asked: Promise<T>, what: string): Promise<Observation<T>> {
  try {
    return { found: await asked };
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    const { status, missingRight: right } = error;
    if (status === 404) return {};
    if (status !== 403) throw error;
    return { unknown: { why: `${what} may not be read`, right } };
  }
}

/** Reads one object; `what` and the errors are as for {@link observed}. */
export const readOne = <T>(client: ApiClient, path: string, what: string): Promise<Observation<T>> =>
  observed(client.request<T>('GET', path), what);

/** Lists the objects of all sources. @throws ClusterError */
export const readLists = async <O extends ApiObject, T>(
  client: ApiClient,
  sources: Iterable<Source<O, T>>,
): Promise<T[]> =>
  (await mapEach(sources, async (source) => [...(await listAll(client, source)).store.list()])).flat();

/** Runs `work` for each value, and keeps the order. Four run at a time: more would only queue at the API server. */
export async function mapEach<T, R>(values: Iterable<T>, work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  // all four workers take their values from this one iterator
  const rest = [...values].entries();
  const worker = async (): Promise<void> => {
    for (const [at, value] of rest) results[at] = await work(value);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return results;
}
