import { relist } from '../../lib/limits.ts';
import type { Change } from '../informer/store.ts';
import type { OptedIn } from './watch-namespaces.ts';

/** The part of an informer that {@link relistWhenNeeded} uses. */
export interface Relisted<T> {
  readonly store: { readonly leftOut: number };
  subscribe(subscriber: (changes: Change<T>[]) => void): () => void;
  relist(): void;
}

/**
 * Lists pods again when no event will report them: pods that are older than the opt-in of their namespace, and pods that
 * were left out because there were too many. Lists are rare, because each one loads the API server.
 *
 * @returns stops it
 */
export function relistWhenNeeded<T>(pods: Relisted<T>, optedIn: OptedIn | undefined): () => void {
  let timer: NodeJS.Timeout | undefined;
  let due = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  /** Schedules one list, unless one is due before. @param at by `performance.now()` */
  const schedule = (at: number): void => {
    if (at >= due) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(() => {
      due = Number.POSITIVE_INFINITY;
      last = performance.now();
      pods.relist();
    }, at - performance.now());
  };
  const { first, next } = relist.afterOptIn;
  const ends = [
    optedIn?.subscribe(() => schedule(Math.max(performance.now() + first, last + next))),
    pods.subscribe((changes) => {
      const isFree = pods.store.leftOut > 0 && changes.some(({ type }) => type === 'deleted');
      if (isFree) schedule(performance.now() + relist.afterFree);
    }),
  ];
  return () => {
    for (const end of ends) end?.();
    clearTimeout(timer);
  };
}
