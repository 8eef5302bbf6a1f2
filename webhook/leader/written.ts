import { ClusterError } from '../cluster/errors.ts';

/**
 * The result of a request with preconditions on a pod. `made`: the API server accepted it; `conflict`: the pod is another
 * version than the one that was read, or another pod of its name; `gone`: it does not exist any more.
 */
export type Written<T = object> =
  | ({ result: 'made' } & T)
  | { result: 'conflict' | 'gone' }
  | { result: 'failed'; error: unknown };

/** What became of a request, with what it resolves to. Never throws. */
export async function writtenBy<T extends object>(request: Promise<T>): Promise<Written<T>> {
  try {
    return { result: 'made', ...(await request) };
  } catch (error) {
    const status = error instanceof ClusterError ? error.status : undefined;
    if (status === 409) return { result: 'conflict' };
    if (status === 404) return { result: 'gone' };
    return { result: 'failed', error };
  }
}
