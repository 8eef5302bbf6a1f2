import type { ApiClient } from '../../cluster/client.ts';
import type { EventRecorder } from '../../cluster/events/recorder.ts';
import type { Leadership } from '../../cluster/lease/leadership.ts';
import type { Policy } from '../../config/policy.ts';
import type { Deps } from '../../lib/deps.ts';
import { pendingPods, planLimits } from '../../lib/limits.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import { Controller } from '../controller.ts';
import { Eligibility } from './eligibility.ts';
import { SteerMetrics } from './metrics.ts';
import { Nominator, type SteerView } from './nominator.ts';
import { PendingIndex } from './pending-index.ts';

/** What steering works with. */
export interface SteerInputs {
  /** The nodes, and the pods that wait for one. */
  view: SteerView;
  /** The policy in force. */
  policy: () => Policy;
  /** Undefined where there can be no leader: nothing is steered then. */
  leader: Leadership | undefined;
  events: Pick<EventRecorder, 'capacity' | 'add'>;
}

/** The first and the longest pause of a key after a nomination that the scheduler ignored, in milliseconds. */
const [baseDelay, maxDelay] = [30_000, 300_000];
/** How often all keys are looked at, in milliseconds. Nodes become ready, fill and empty without an event of a pod. */
const resync = 2000;

/**
 * Nominates nodes for refused pods, and writes events about pods that wait, while this process leads.
 *
 * @returns stops it
 */
export function startSteering(
  client: ApiClient,
  inputs: SteerInputs,
  { registry, log }: Pick<Deps, 'registry' | 'log'>,
): () => Promise<void> {
  const { view, policy, leader } = inputs;
  const ended = new AbortController();
  const metrics = new SteerMetrics(registry);
  const bucket = new TokenBucket(planLimits.perSecond, planLimits.burst);
  const pods = new PendingIndex(() => view.pending());
  const eligibility = new Eligibility(client, leader, log);
  const state = () => eligibility.state;
  const nominator = new Nominator(client, { ...inputs, pods, state, metrics, bucket, log });
  const controller = new Controller({
    leader,
    log,
    failure: 'refused pods cannot be steered',
    queue: { maxLength: pendingPods.max.count, inFlight: 10, baseDelay, maxDelay, bucket },
    subscribe: (changed) =>
      view.subscribe((some) => {
        pods.changed();
        changed(some.filter((pod) => nominator.concerns(pod)).map(({ key }) => key));
      }),
    keys: () => nominator.keys(),
    resync,
    // events about long holds are written with every state
    isActive: async (signal) => {
      metrics.state(await eligibility.check(policy(), signal));
      return true;
    },
    reconcile: (key, signal) => nominator.reconcile(key, signal),
    forget: () => nominator.forget(),
  });
  const running = controller.run(ended.signal);
  return async () => {
    ended.abort();
    await running;
  };
}
