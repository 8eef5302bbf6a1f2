import type { Change } from '../kubernetes/reflector/store.ts';
import { relist } from '../lib/limits.ts';
import type { OptedIn } from './opted-in.ts';

/** The part of a reflector that {@link relistWhenNeeded} uses. */
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
  const timers = new Set<NodeJS.Timeout>();
  let last = Number.NEGATIVE_INFINITY;
  /** Schedules one list. Calls until then have no effect. */
  const later = (wait: () => number): (() => void) => {
    let timer: NodeJS.Timeout | undefined;
    return () => {
      if (timer !== undefined) return;
      const started = setTimeout(() => {
        timers.delete(started);
        timer = undefined;
        last = performance.now();
        pods.relist();
      }, wait());
      timer = started;
      timers.add(started);
    };
  };
  const { first, next } = relist.afterOptIn;
  const afterOptIn = later(() => Math.max(first, last + next - performance.now()));
  const afterFree = later(() => relist.afterFree);
  const ends = [
    optedIn?.subscribe(afterOptIn),
    pods.subscribe((changes) => {
      if (pods.store.leftOut > 0 && changes.some(({ type }) => type === 'deleted')) afterFree();
    }),
  ];
  return () => {
    for (const end of ends) end?.();
    for (const timer of timers) clearTimeout(timer);
  };
}
