import type { ApiClient } from '../../cluster/client.ts';
import type { Deps } from '../../lib/deps.ts';
import { evidencePods } from '../../lib/limits.ts';
import type { EvidenceChange } from '../../nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { Controller } from '../controller.ts';
import { RepairMetrics } from './metrics.ts';
import { Reconciler, type RepairOptions } from './reconciler.ts';

/** How often all failed pods are looked at, in milliseconds. Nodes become ready without any event of a pod. */
const resync = 2000;

/** A failed deletion is tried again after a pause, in milliseconds. Each further failure doubles it. */
const [baseDelay, maxDelay] = [1000, 300_000];

/** Deletions in parallel. */
const inFlight = 5;

/**
 * Recreates pods whose proof failed while this process leads.
 *
 * @returns stops it, when the deletions that were begun have ended
 */
export function startRepair(
  client: ApiClient,
  inputs: Omit<RepairOptions, 'metrics' | 'log'>,
  { registry, log }: Pick<Deps, 'registry' | 'log'>,
): () => Promise<void> {
  const reconciler = new Reconciler(client, { ...inputs, metrics: new RepairMetrics(registry), log });
  const { leader, view } = inputs;
  const { evidence } = view;
  const ended = new AbortController();
  const controller = new Controller({
    leader,
    log,
    resync,
    failure: 'failed pods cannot be recreated',
    queue: { maxLength: evidencePods.max.count, inFlight, baseDelay, maxDelay },
    subscribe: (changed) =>
      evidence.subscribe((changes) => {
        reconciler.observe(changes);
        changed(affected(changes));
      }),
    keys: () => {
      reconciler.sweep();
      return keysOf(evidence.pods());
    },
    isActive: async () => reconciler.isActive(),
    forget: () => reconciler.forget(),
    reconcile: (key) => reconciler.reconcile(key.slice(key.indexOf('/') + 1)),
  });

  /** A pod that failed, and, of one that passed, those of its controller. */
  function* affected(changes: readonly EvidenceChange[]): Generator<string> {
    for (const { before, now } of changes) {
      if (now === undefined) continue;
      yield* keysOf([now]);
      if (now.verdict === 'passed' && before?.verdict !== 'passed')
        yield* keysOf(evidence.ownedBy(now.owner));
    }
  }

  const running = controller.run(ended.signal);
  return async () => {
    ended.abort();
    await running;
  };
}

/** The keys of the pods that there is something to do about. */
function* keysOf(pods: Iterable<PodEvidence>): Generator<string> {
  for (const { uid, namespace, verdict, releasedFrom } of pods) {
    if (verdict === 'failed' || releasedFrom !== undefined) yield `${namespace}/${uid}`;
  }
}
