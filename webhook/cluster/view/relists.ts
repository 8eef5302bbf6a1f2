import { relist } from '../../lib/limits.ts';
import type { OptedIn } from './watch-namespaces.ts';

/**
 * Lists pods again when namespaces opted in or out: no event reports pods that are older than that. Lists are rare,
 * because each one loads the API server.
 *
 * @returns stops it
 */
export function relistAfterOptIn(pods: { relist(): void }, optedIn: OptedIn | undefined): () => void {
  const { first, next } = relist.afterOptIn;
  let timer: NodeJS.Timeout | undefined;
  let last = Number.NEGATIVE_INFINITY;
  const list = (): void => {
    timer = undefined;
    last = performance.now();
    pods.relist();
  };
  const end = optedIn?.subscribe(() => {
    timer ??= setTimeout(list, Math.max(first, last + next - performance.now()));
  });
  return () => {
    end?.();
    clearTimeout(timer);
  };
}
