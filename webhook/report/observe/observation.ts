import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { listAll } from '../../cluster/informer/list-all.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';
import { trustedObjectBytes } from '../../lib/limits.ts';

/** What a request found, or why the result is not known. If both fields are absent, the object does not exist. */
export interface Observation<T> {
  found?: T;
  /** Which permission is missing, as a text. */
  unknown?: string;
}

export const isAbsent = ({ found, unknown }: Observation<unknown>): boolean =>
  found === undefined && unknown === undefined;

/**
 * Converts the answer to a request into an observation. "Not found" and "forbidden" count as answers.
 *
 * @param what names the object in the message about a missing permission
 * @throws ClusterError for any other refusal, or if there was no answer
 */
export async function observed<T>(asked: Promise<T>, what: string): Promise<Observation<T>> {
  try {
    return { found: await asked };
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    const { status, missingRight } = error;
    if (status === 404) return {};
    if (status !== 403) throw error;
    return { unknown: `${what} may not be read${missingRight ? `: RBAC lacks ${missingRight}` : ''}` };
  }
}

/** Reads one object; `what` and the errors are as for {@link observed}. */
export const readOne = <T>(client: ApiClient, path: string, what: string): Promise<Observation<T>> =>
  observed(client.request<T>('GET', path), what);

/**
 * Lists the objects of all sources; `what` and the errors are as for {@link observed}. The objects of a source are in the
 * order of their names, because the API server sorts a list. "Not found" counts as unknown: a list without
 * objects is empty, not missing.
 */
export async function readLists<O extends ApiObject, T>(
  client: ApiClient,
  sources: Iterable<Source<O, T>>,
  what: string,
): Promise<Observation<T[]>> {
  const seen = await observed(listInTurn(client, sources), what);
  return isAbsent(seen)
    ? { unknown: `${what} may not be read: the API server does not find the list` }
    : seen;
}

/** Four lists are read at a time: more would only queue at the API server. */
async function listInTurn<O extends ApiObject, T>(
  client: ApiClient,
  sources: Iterable<Source<O, T>>,
): Promise<T[]> {
  const results: T[][] = [];
  // all four workers take their sources from this one iterator
  const rest = [...sources].entries();
  const worker = async (): Promise<void> => {
    for (const [at, { retention: _, ...source }] of rest) {
      // unlike a server, a report reads and keeps every object that can be stored, so that none is missed
      const { store } = await listAll(client, { ...source, maxObject: trustedObjectBytes });
      results[at] = [...store.list()];
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return results.flat();
}
