import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { Policy } from '../config/policy.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { Election } from '../kubernetes/lease/election.ts';
import type { Log } from '../kubernetes/reflector/observe.ts';
import { leaderLease } from '../lib/names.ts';
import { watchHolds } from './hold-watch.ts';
import { SteerMetrics } from './metrics.ts';
import { Notices } from './notices.ts';
import type { SteerView } from './rounds.ts';
import { Steering } from './steering.ts';

export interface SteerInside {
  registry: Registry;
  log: Log;
  /** The namespace of the Lease; undefined where it is not known and nobody leads. */
  ownNamespace: string | undefined;
}

/**
 * Takes part in the election of a leader. While this process leads, it steers refused pods and writes events.
 *
 * @returns what ends all of that and releases the Lease
 */
export function startSteering(
  client: ApiClient,
  view: SteerView & { policy: () => Policy },
  { registry, log, ownNamespace }: SteerInside,
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
  const steering = new Steering(client, { view, policy: view.policy, leader, metrics, notices, log });
  const holds = { view, policy: view.policy, leader, notices, state: () => steering.state };
  const running = Promise.all([
    steering.run(steered.signal),
    watchHolds(holds, steered.signal),
    notices.run(steered.signal),
  ]);
  return async () => {
    // the next leader must not begin before this one has stopped
    steered.abort();
    await running;
    led.abort();
    await contending;
  };
}
