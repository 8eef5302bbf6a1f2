import type { Registry } from 'prom-client';
import type { ApiClient } from '../../cluster/client.ts';
import { evidencePods } from '../../lib/limits.ts';
import type { EvidenceChange } from '../../nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { Controller, type LeaderDeps } from '../controller.ts';
import { RepairMetrics } from '../metrics.ts';
import { Reconciler, type RepairView } from './reconciler.ts';

/** A failed deletion is tried again after a pause, in milliseconds. Each further failure doubles it. */
const [baseDelay, maxDelay] = [1000, 300_000];

/** Deletions in parallel. */
const inFlight = 5;

/** The controller that recreates pods whose proof failed. */
export function repairController(
  client: ApiClient,
  deps: LeaderDeps<RepairView>,
  registry: Registry,
): Controller {
  const reconciler = new Reconciler(client, { ...deps, metrics: new RepairMetrics(registry) });
  const { evidence } = deps.view;
  /** A pod that failed, and, of one that passed, those of its controller. */
  function* affected(changes: readonly EvidenceChange[]): Generator<string> {
    for (const { before, now } of changes) {
      if (now === undefined) continue;
      yield* keysOf([now]);
      if (now.verdict === 'passed' && before?.verdict !== 'passed')
        yield* keysOf(evidence.ownedBy(now.owner));
    }
  }
  return new Controller({
    ...deps,
    failure: 'failed pods cannot be recreated',
    queue: { maxLength: evidencePods.max.count, inFlight, baseDelay, maxDelay },
    subscribe: (changed) =>
      evidence.subscribe((changes) => {
        reconciler.observe(changes);
        changed(affected(changes));
      }),
    keys: async () => keysOf(reconciler.resync()),
    reconcile: (key) => reconciler.reconcile(key.slice(key.indexOf('/') + 1)),
    forget: () => reconciler.forget(),
  });
}

/** The keys of the pods that there is something to do about. */
function* keysOf(pods: Iterable<PodEvidence>): Generator<string> {
  for (const { uid, namespace, verdict, releasedFrom } of pods) {
    if (verdict === 'failed' || releasedFrom !== undefined) yield `${namespace}/${uid}`;
  }
}
