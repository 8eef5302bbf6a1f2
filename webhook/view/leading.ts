import type { Policy } from '../config/policy.ts';
import { EventMetrics } from '../events/metrics.ts';
import { Notices } from '../events/notices.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { runForLeader } from '../kubernetes/lease/leadership.ts';
import type { Deps } from '../lib/deps.ts';
import type { RepairView } from '../repair/rounds.ts';
import { startRepair } from '../repair/start.ts';
import { watchEvidence } from '../report/watch.ts';
import type { SteerView } from '../steer/rounds.ts';
import { startSteering } from '../steer/start.ts';

/** What the leader's work needs. */
export interface LeadInputs {
  view: SteerView & RepairView;
  /** The policy in force. */
  policy: () => Policy;
  /** Namespace of the Lease; without one this replica never leads. */
  ownNamespace: string | undefined;
}

/**
 * Takes part in the leader election. While this process leads, it steers refused pods, repairs failed ones and writes
 * events.
 *
 * @returns stops all of it, then releases the Lease
 */
export function startLeading(
  client: ApiClient,
  { view, policy, ownNamespace }: LeadInputs,
  { registry, log }: Pick<Deps, 'registry' | 'log'>,
): () => Promise<void> {
  const { leader, instance, end } = runForLeader(client, ownNamespace, log);
  const notices = new Notices(client, { leader, metrics: new EventMetrics(registry), log, instance });
  const ended = new AbortController();
  const writing = notices.run(ended.signal);
  const watching = watchEvidence({ view, policy, leader, notices }, ended.signal);
  const endSteering = startSteering(client, { view, policy, leader, notices }, { registry, log });
  const endRepair = startRepair(client, { view, policy, leader, notices }, { registry, log });
  return async () => {
    ended.abort();
    await Promise.all([endSteering(), endRepair(), watching, writing]);
    await end();
  };
}
