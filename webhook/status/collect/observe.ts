import { ClusterError } from '../../kubernetes/errors.ts';
import type { Observation } from '../installation/facts.ts';

/**
 * What was asked for; that it does not exist, or that whoever asks has no right to it, is an answer as well.
 *
 * @param what its name in words, for where it may not be read
 * @throws ClusterError for any other refusal, or where there was no answer
 */
export async function observe<T>(what: string, asked: Promise<T>): Promise<Observation<T>> {
  try {
    return { found: await asked };
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    if (error.status === 404) return 'absent';
    if (error.status === 403) return { unknown: { why: `${what} may not be read`, forbidden: true } };
    throw error;
  }
}

/** The same with a part of what was found. */
export const mapObservation = <T, P>(seen: Observation<T>, pick: (found: T) => P): Observation<P> =>
  typeof seen === 'object' && 'found' in seen ? { found: pick(seen.found) } : seen;
