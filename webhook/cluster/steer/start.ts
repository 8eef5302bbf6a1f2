import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { leaderLease } from '../../names.ts';
import type { ApiClient } from '../client.ts';
import { Election } from '../lease/election.ts';
import type { Log } from '../observe.ts';
import { SteerMetrics } from './metrics.ts';
import { Steering, type SteerView } from './steering.ts';

export interface SteerInside {
  registry: Registry;
  log: Log;
  /** Where the Lease is; without one nobody leads. */
  ownNamespace: string | undefined;
}

/** Contends for the lead, and steers while this process has it. @returns what ends both, and lets go of the lead */
export function startSteering(
  client: ApiClient,
  view: SteerView,
  { registry, log, ownNamespace }: SteerInside,
): () => Promise<void> {
  const steered = new AbortController();
  const led = new AbortController();
  const leader =
    ownNamespace === undefined
      ? undefined
      : new Election(client, {
          namespace: ownNamespace,
          name: leaderLease,
          // in a pod, the host name is the pod's
          identity: `${hostname()}_${randomUUID()}`,
          log,
        });
  const contending = leader?.run(led.signal);
  const steering = new Steering(client, { view, leader, metrics: new SteerMetrics(registry), log });
  const running = steering.run(steered.signal);
  return async () => {
    // the next leader must not begin before this one has ended
    steered.abort();
    await running;
    led.abort();
    await contending;
  };
}
