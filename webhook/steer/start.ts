import type { Policy } from '../config/policy.ts';
import type { Notices } from '../events/notices.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import type { Leadership } from '../kubernetes/lease/leadership.ts';
import type { Deps } from '../lib/deps.ts';
import { watchHolds } from './hold-watch.ts';
import { SteerMetrics } from './metrics.ts';
import type { SteerView } from './rounds.ts';
import { Steering } from './steering.ts';

/** What steering works with. */
export interface SteerInputs {
  /** The nodes, and the pods that wait for one. */
  view: SteerView;
  /** The policy in force. */
  policy: () => Policy;
  /** Undefined where there can be no leader: nothing is steered then. */
  leader: Leadership | undefined;
  notices: Notices;
}

/**
 * Steers refused pods and queues events about long holds while this process leads.
 *
 * @returns stops it
 */
export function startSteering(
  client: ApiClient,
  { view, policy, leader, notices }: SteerInputs,
  { registry, log }: Pick<Deps, 'registry' | 'log'>,
): () => Promise<void> {
  const ended = new AbortController();
  const metrics = new SteerMetrics(registry);
  const steering = new Steering(client, { view, policy, leader, metrics, notices, log });
  const holds = { view, policy, leader, notices, state: () => steering.state };
  const running = Promise.all([steering.run(ended.signal), watchHolds(holds, ended.signal)]);
  return async () => {
    ended.abort();
    await running;
  };
}
