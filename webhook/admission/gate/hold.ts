import type { DaemonSetStatus } from '../../nodes/readiness/state.ts';

/**
 * When a pod's hold began: when the scheduler first wrote the refusal into the pod's status, or when the DaemonSet
 * reached its state, whichever is later. A time of the DaemonSet that lies in the future is ignored, because a node's
 * clock that is ahead must not extend a hold.
 *
 * @param heldSince milliseconds since the epoch, as `now` and the result
 */
export function holdBegan(heldSince: number, { since, observedAt }: DaemonSetStatus, now: number): number {
  const began = [since, observedAt].find((time) => time !== undefined && time <= now);
  return Math.max(heldSince, began ?? 0);
}
