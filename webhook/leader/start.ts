import type { ApiClient } from '../cluster/client.ts';
import { EventMetrics } from '../cluster/events/metrics.ts';
import { EventRecorder } from '../cluster/events/recorder.ts';
import { runForLeader } from '../cluster/lease/leadership.ts';
import type { Policy } from '../config/policy.ts';
import type { Deps } from '../lib/deps.ts';
import type { SteerView } from './nominate/nominator.ts';
import { steeringController } from './nominate/start.ts';
import type { RepairView } from './recreate/reconciler.ts';
import { repairController } from './recreate/start.ts';
import { watchEvidence } from './report/watch.ts';

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
  const events = new EventRecorder(client, { leader, metrics: new EventMetrics(registry), log, instance });
  const deps = { view, policy, leader, events, log };
  const ended = new AbortController();
  const { signal } = ended;
  const running = [
    events.run(signal),
    watchEvidence(deps, signal),
    steeringController(client, deps, registry).run(signal),
    repairController(client, deps, registry).run(signal),
  ];
  return async () => {
    ended.abort();
    await Promise.all(running);
    await end();
  };
}
