import type { DaemonSetStatus } from '../readiness/state.ts';

/**
 * When a pod's hold began, milliseconds since the epoch: when the scheduler first told our refusal on the pod, or when
 * the DaemonSet came to its state, whichever is later. A time of the DaemonSet's that is still to come, as by a node's
 * clock that is ahead, tells nothing: nobody is held by it for longer.
 */
export function holdBegan(heldSince: number, { since, observedAt }: DaemonSetStatus, now: number): number {
  const began = [since, observedAt].find((time) => time !== undefined && time <= now);
  return Math.max(heldSince, began ?? 0);
}
