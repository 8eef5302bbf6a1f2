import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { ApiClient } from '../kubernetes/client.ts';
import { Election } from '../kubernetes/lease/election.ts';
import type { Log } from '../kubernetes/reflector/observe.ts';
import { leaderLease } from '../lib/names.ts';
import { watchHolds } from './hold-watch.ts';
import { SteerMetrics } from './metrics.ts';
import { Notices } from './notices.ts';
import { Steering, type SteerView } from './steering.ts';

export interface SteerInside {
  registry: Registry;
  log: Log;
  /** Where the Lease is; without one nobody leads. */
  ownNamespace: string | undefined;
}

/**
 * Contends for the lead, and while this process has it steers, and tells on pods that are held.
 *
 * @returns what ends all of that, and lets go of the lead
 */
export function startSteering(
  client: ApiClient,
  view: SteerView,
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
  const steering = new Steering(client, { view, leader, metrics, notices, log });
  const holds = { view, leader, notices, state: () => steering.state };
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
