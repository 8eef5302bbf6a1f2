import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { ApiClient } from '../cluster/client.ts';
import { EventRecorder, eventMetrics } from '../cluster/events/recorder.ts';
import { LeaderElector, type Leadership } from '../cluster/leadership.ts';
import type { Deps } from '../lib/deps.ts';
import { planLimits } from '../lib/limits.ts';
import { leaderLease } from '../lib/names.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { type LeaderDeps, runController, type Work } from './controller.ts';
import { watchEvidence } from './duplicate-addresses.ts';
import { repairMetrics, steerMetrics } from './metrics.ts';
import { type RepairView, repairer } from './repair/reconciler.ts';
import { nominator, type SteerView } from './steering/nominator.ts';

/**
 * While this process leads, it steers refused pods, repairs failed pods and writes events.
 * @param ownNamespace the namespace of the Lease; if undefined, this replica never leads
 * @returns a function that stops this work and then releases the Lease
 */
export function startLeading(
  client: ApiClient,
  { view, policy }: Pick<LeaderDeps<SteerView & RepairView>, 'view' | 'policy'>,
  ownNamespace: string | undefined,
  { registry, log }: Pick<Deps, 'registry' | 'log'>,
): () => Promise<void> {
  // in a pod, the host name is the pod's name
  const instance = hostname();
  const lease = { name: leaderLease, identity: `${instance}_${randomUUID()}`, log };
  const elector =
    ownNamespace === undefined ? undefined : new LeaderElector(client, { namespace: ownNamespace, ...lease });
  const leader: Leadership = elector ?? { leads: false, subscribe: () => () => {} };
  const contends = new AbortController();
  const contending = elector?.run(contends.signal);
  const events = new EventRecorder(client, { leader, metrics: eventMetrics(registry), log, instance });
  const deps = { view, policy, leader, events, log };
  const ended = new AbortController();
  const { signal } = ended;
  const running = [
    events.run(signal),
    watchEvidence(deps, signal),
    runSteering(client, deps, registry, signal),
    runRepair(client, deps, registry, signal),
  ];
  return async () => {
    ended.abort();
    await Promise.all(running);
    // the Lease is released last, so that the next leader starts only after this work has ended
    contends.abort();
    await contending;
  };
}

export function runSteering(
  client: ApiClient,
  deps: LeaderDeps<SteerView>,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  const bucket = new TokenBucket(planLimits.perSecond, planLimits.burst);
  const options = { ...deps, metrics: steerMetrics(registry), bucket };
  const begin = (): Work => nominator(client, options);
  const failure = 'refused pods cannot be steered';
  // back-off of a key, in milliseconds, after the scheduler ignored the nomination of a pod
  const queue = { inFlight: 10, baseDelay: 10_000, maxDelay: 300_000 };
  return runController({ ...options, ...queue, begin, failure }, signal);
}

export function runRepair(
  client: ApiClient,
  deps: LeaderDeps<RepairView>,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  const options = { ...deps, metrics: repairMetrics(registry) };
  const begin = (): Work => repairer(client, options);
  const failure = 'failed pods cannot be recreated';
  // back-off of a key, in milliseconds, after a failed deletion
  const queue = { inFlight: 5, baseDelay: 1000, maxDelay: 300_000 };
  return runController({ ...options, ...queue, begin, failure }, signal);
}
