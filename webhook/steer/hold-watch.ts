import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '../config/policy.ts';
import type { Leadership } from './eligibility.ts';
import { LongHolds } from './long-holds.ts';
import type { SteerState } from './metrics.ts';
import type { Notices } from './notices.ts';
import type { SteerView } from './steering.ts';
import { leastVersion } from './version.ts';

/** How often pods that wait are looked at, in milliseconds: nothing happens when a hold becomes a long one. */
const interval = 5000;

export interface HoldWatchOptions {
  view: Omit<SteerView, 'subscribe'>;
  /** The policy in force. */
  policy: () => Policy;
  leader: Leadership | undefined;
  notices: Pick<Notices, 'capacity' | 'tell'>;
  /** What steering does. */
  state: () => SteerState | undefined;
}

/** Why pods are not sent elsewhere, where that is for long. */
const unsteered: Partial<Record<SteerState, string>> = {
  off: 'steer.mode is off',
  'api-server-too-old': `schedulers go by that from Kubernetes ${leastVersion} on`,
};

/**
 * Tells of long holds on the pods, while this process leads, whether it steers or not. Runs until the signal is
 * aborted, and never throws.
 */
export async function watchHolds(
  { view, policy: policyInForce, leader, notices, state }: HoldWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const holds = new LongHolds();
  while (!signal.aborted) {
    if (leader?.leads === true && view.unsynced() === undefined) {
      const policy = policyInForce();
      const is = policy.steer.mode === 'off' ? 'off' : state();
      const known = { policy, readiness: view.readiness, unsteered: is && unsteered[is] };
      for (const notice of holds.due(view.pending(), known, Date.now(), notices.capacity)) {
        notices.tell(notice, () => holds.failed(notice, Date.now()));
      }
    }
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}
