import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '../config/policy.ts';
import type { Notices } from '../events/notices.ts';
import type { Leadership } from '../kubernetes/lease/leadership.ts';
import { leastVersion } from './eligibility.ts';
import { LongHolds } from './long-holds.ts';
import type { SteerState } from './metrics.ts';
import type { SteerView } from './rounds.ts';

/** How often waiting pods are checked, in milliseconds. No event tells that a hold has become a long one. */
const interval = 5000;

/** What the watch for long holds works with. */
export interface HoldWatchOptions {
  view: Omit<SteerView, 'subscribe'>;
  /** The policy in force. */
  policy: () => Policy;
  leader: Leadership | undefined;
  notices: Pick<Notices, 'capacity' | 'add'>;
  /** The state of steering. */
  state: () => SteerState | undefined;
}

/** Why pods are not steered, where that lasts. */
const unsteered: Partial<Record<SteerState, string>> = {
  off: 'steer.mode is off',
  'api-server-too-old': `schedulers use nominations from Kubernetes ${leastVersion} on`,
};

/**
 * Writes events about long holds while this process leads, whether it steers or not. Runs until the signal is aborted.
 * Never throws.
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
      const { readiness, evidence } = view;
      const known = { policy, readiness, evidence, unsteered: is && unsteered[is] };
      for (const notice of holds.due(view.pending(), known, Date.now(), notices.capacity)) {
        notices.add(notice, () => holds.failed(notice, Date.now()));
      }
    }
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}
