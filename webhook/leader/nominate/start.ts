import type { Registry } from 'prom-client';
import type { ApiClient } from '../../cluster/client.ts';
import { pendingPods, planLimits } from '../../lib/limits.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import { Controller, type LeaderDeps } from '../controller.ts';
import { SteerMetrics } from '../metrics.ts';
import { Nominator, type SteerView } from './nominator.ts';

/** The first and the longest pause of a key after a nomination that the scheduler ignored, in milliseconds. */
const [baseDelay, maxDelay] = [10_000, 300_000];

/** The controller that nominates nodes for refused pods, and writes events about pods that wait. */
export function steeringController(
  client: ApiClient,
  deps: LeaderDeps<SteerView>,
  registry: Registry,
): Controller {
  const bucket = new TokenBucket(planLimits.perSecond, planLimits.burst);
  const nominator = new Nominator(client, { ...deps, metrics: new SteerMetrics(registry), bucket });
  return new Controller({
    ...deps,
    failure: 'refused pods cannot be steered',
    queue: { maxLength: pendingPods.max.count, inFlight: 10, baseDelay, maxDelay, bucket },
    subscribe: (changed) =>
      deps.view.subscribe((pods) => {
        nominator.changed();
        changed(pods.filter(({ refused }) => refused !== undefined).map(({ key }) => key));
      }),
    keys: (signal) => nominator.keys(signal),
    reconcile: (key, signal) => nominator.reconcile(key, signal),
    forget: () => nominator.forget(),
  });
}
