import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Policy } from '../config/policy.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { Election } from '../kubernetes/lease/election.ts';
import type { Deps } from '../lib/deps.ts';
import { leaderLease } from '../lib/names.ts';
import { watchHolds } from './hold-watch.ts';
import { SteerMetrics } from './metrics.ts';
import { Notices } from './notices.ts';
import type { SteerView } from './rounds.ts';
import { Steering } from './steering.ts';

/** What steering works with. */
export interface SteerInputs {
  /** The nodes, and the pods that wait for one. */
  view: SteerView;
  /** The policy in force. */
  policy: () => Policy;
  /** Namespace of the Lease; without one this replica never leads. */
  ownNamespace: string | undefined;
}

/**
 * Takes part in the leader election. While this process leads, it steers refused pods and writes events.
 *
 * @returns stops all of it, then releases the Lease
 */
export function startSteering(
  client: ApiClient,
  { view, policy, ownNamespace }: SteerInputs,
  { registry, log }: Deps,
): () => Promise<void> {
  const steered = new AbortController();
  const led = new AbortController();
  // in a pod, the host name is the pod's
  const instance = hostname();
  const leader =
    ownNamespace === undefined
      ? undefined
      : new Election(client, {
          namespace: ownNamespace,
          name: leaderLease,
          identity: `${instance}_${randomUUID()}`,
          log,
        });
  const contending = leader?.run(led.signal);
  const metrics = new SteerMetrics(registry);
  const notices = new Notices(client, { leader, metrics, log, instance });
  const steering = new Steering(client, { view, policy, leader, metrics, notices, log });
  const holds = { view, policy, leader, notices, state: () => steering.state };
  const running = Promise.all([
    steering.run(steered.signal),
    watchHolds(holds, steered.signal),
    notices.run(steered.signal),
  ]);
  return async () => {
    // the next leader must not begin before this one has ended
    steered.abort();
    await running;
    led.abort();
    await contending;
  };
}
