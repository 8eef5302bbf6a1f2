import type { Standing } from '../readiness/state.ts';

/**
 * When a pod's hold began, milliseconds since the epoch: when the scheduler first told our refusal on the pod, or when
 * the DaemonSet came to its state, whichever is later.
 */
export const holdBegan = (heldSince: number, { since, noticed }: Standing): number =>
  Math.max(heldSince, since ?? noticed ?? 0);
