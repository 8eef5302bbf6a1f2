import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import type { ClusterView } from '../../core/cluster-view.ts';
import { isLost, type PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceChange } from '../../core/networks/evidence.ts';
import type { LeaderDeps, Result, Work } from '../controller.ts';
import type { RepairMetrics, RepairState } from '../metrics.ts';
import { deletePod } from '../pod-requests.ts';
import { decide, type Recreation, type Skipped, skipReasons } from './decide.ts';
import { RepairMemory } from './memory.ts';
import { type KnownCluster, networkOn, type OtherNodes, otherNodes } from './networks.ts';
import { reporter } from './reporter.ts';

export type RepairView = Pick<ClusterView, 'readiness' | 'evidence' | 'unsynced'>;

/** How long, in milliseconds, the result of the costly search for suitable nodes is reused. */
const reuse = 5000;

export function repairer(
  client: ApiClient,
  options: LeaderDeps<RepairView> & { metrics: RepairMetrics },
): Work {
  const { view, policy, leader, metrics } = options;
  const { evidence } = view;
  let state: RepairState | undefined;
  let memory = new RepairMemory(evidence.hasPassed);
  let reports = reporter(client, options);
  /** UIDs of pods that were deleted, or reported in audit mode: the watch may still show them as failed or lost. */
  let done = new Set<string>();
  let others: { isOpenTo: OtherNodes; until: number } | undefined;

  function stateNow(): RepairState {
    const { repair, proof } = policy();
    if (repair.mode === 'off') return 'off';
    if (!leader.leads) return 'standby';
    // in warn mode, a pod whose proof failed runs anyway, so it is not deleted
    return proof.mode === 'warn' ? 'audit' : repair.mode;
  }

  const isActive = (): boolean =>
    (state === 'recreate' || state === 'audit') && view.unsynced() === undefined && evidence.synced;

  function decideOn(pod: PodEvidence): Recreation | Skipped {
    const { repair } = policy();
    const now = performance.now();
    const known: KnownCluster = { ...view, policy: policy(), now: Date.now() };
    if (others === undefined || now >= others.until)
      others = { isOpenTo: otherNodes(known), until: now + reuse };
    return decide(pod, {
      owners: repair.owners,
      enforces: state === 'recreate',
      now: known.now,
      node: (node, profile) => networkOn(node, profile, known, pod.owner),
      recreatesLost: (profiles) => policy().recreatesLost(profiles),
      ownedBy: (owner) => evidence.ownedBy(owner),
      elsewhere: others.isOpenTo,
      limit: (failed, turn) => memory.limit(failed, turn, repair, now),
    });
  }

  async function audit(recreation: Recreation): Promise<void> {
    const { pod } = recreation;
    memory.take(pod, policy().repair);
    done.add(pod.uid);
    metrics.recreations.inc({ result: 'would' });
    await reports.recreated(recreation, 'wouldRecreate');
  }

  async function recreate(recreation: Recreation): Promise<void> {
    const { pod, moves } = recreation;
    // a change of the mode during the request may replace `memory`
    const begun = memory;
    begun.begin(pod, policy().repair, performance.now());
    // reserves the node for the replacement, so that the gate allows no other pod there first
    for (const profile of moves ? [] : pod.failedProfiles) {
      evidence.reservations.reserve(profile, pod.node, pod.owner, Date.now());
    }
    const { result, ...more } = await deletePod(client, recreation);
    metrics.recreations.inc({ result });
    if (result === 'made') {
      done.add(pod.uid);
      await reports.recreated(recreation, 'recreated');
      return;
    }
    const error = 'error' in more ? more.error : undefined;
    // a request without an answer may have deleted the pod, so the attempt still counts
    if (!(error instanceof ClusterError) || error.status !== undefined) begun.cancel(pod);
    if (error !== undefined) await failed(pod, error);
  }

  /**
   * Deletes a pod that this leader or an earlier one has released from its Job, even if its proof has passed since: the
   * Job no longer counts the pod, and creates another.
   */
  async function finish(pod: PodEvidence): Promise<Result> {
    if (state !== 'recreate' || pod.leaving) return undefined;
    const { result, ...more } = await deletePod(client, { pod, how: 'delete' });
    if (result !== 'made') metrics.recreations.inc({ result });
    if ('error' in more) return failed(pod, more.error);
    return result === 'conflict' ? 'back-off' : undefined;
  }

  /** Reports the failure. @throws the error, so that the pod's key backs off */
  async function failed(pod: PodEvidence, error: unknown): Promise<never> {
    await reports.skipped(pod, { reason: 'under-way' });
    throw error;
  }

  /** @returns the keys of changed pods and, for each pod that has just passed, of all pods of its controller */
  const observe = (changes: readonly EvidenceChange[]): string[] =>
    changes.flatMap((change) => {
      const outcome = memory.observe(change, performance.now());
      if (outcome !== undefined) metrics.outcomes.inc({ outcome });
      const { before, now } = change;
      if (before !== undefined && !(now && mayBeBroken(now))) {
        reports.forget(before.uid);
        done.delete(before.uid);
      }
      const hasPassed = now?.verdict === 'passed' && before?.verdict !== 'passed';
      return [...keysOf(now ? [now] : []), ...keysOf(hasPassed ? evidence.ownedBy(now.owner) : [])];
    });

  return {
    subscribe: (add) => evidence.subscribe((changes) => add(observe(changes))),

    /** Updates this replica's state and the metrics. Returns the keys of failed, lost and released pods. */
    keys: async () => {
      const before = state;
      state = stateNow();
      if (state !== before) {
        metrics.state(state);
        memory = new RepairMemory(evidence.hasPassed);
        reports = reporter(client, options);
        done = new Set();
      }
      const now = performance.now();
      metrics.outcomes.inc({ outcome: 'unknown' }, memory.sweep(now));
      for (const reason of skipReasons) metrics.skipped.set({ reason }, 0);
      for (const reason of reports.reasons()) metrics.skipped.inc({ reason });
      metrics.stopped.set(memory.isStopped(now) ? 1 : 0);
      return keysOf(isActive() ? evidence.pods() : []);
    },

    /** Throws a ClusterError if the API server does not answer. */
    reconcile: async (key) => {
      const uid = key.slice(key.indexOf('/') + 1);
      const pod = evidence.pod(uid);
      if (pod === undefined || !isActive()) return undefined;
      if (pod.releasedFrom !== undefined) return finish(pod);
      if (!isBroken(pod) || done.has(uid)) return undefined;
      const decision = decideOn(pod);
      if (!('how' in decision)) await reports.skipped(pod, decision);
      else if (state === 'audit') await audit(decision);
      else await recreate(decision);
      return undefined;
    },
  };
}

const mayBeBroken = ({ verdict, unready }: PodEvidence): boolean =>
  verdict === 'failed' || unready !== undefined;

/** How many milliseconds a network must be lost before its pod is deleted. A restarted agent may restore a network. */
const patience = 60_000;

/** Whether the pod's proof failed, or its network has been lost for `patience`. */
const isBroken = (pod: PodEvidence): boolean => pod.verdict === 'failed' || isLost(pod, Date.now(), patience);

/** `namespace/uid` of failed, lost and released pods. */
function* keysOf(pods: Iterable<PodEvidence>): Generator<string> {
  for (const pod of pods)
    if (isBroken(pod) || pod.releasedFrom !== undefined) yield `${pod.namespace}/${pod.uid}`;
}
