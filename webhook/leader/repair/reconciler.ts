import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import type { ClusterView } from '../../core/cluster-view.ts';
import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceChange } from '../../core/networks/evidence.ts';
import type { LeaderDeps, Result, Work } from '../controller.ts';
import type { RepairMetrics, RepairState } from '../metrics.ts';
import { deletePod, deleteReleased } from '../pod-requests.ts';
import { decide, type Recreation, type Skipped, skipReasons } from './decide.ts';
import { RepairMemory } from './memory.ts';
import { type KnownCluster, networkOn, type OtherNodes, otherNodes } from './networks.ts';
import { type Reporter, reporter } from './reporter.ts';
import { type StatefulSets, statefulSets } from './stateful-sets.ts';

export type RepairView = Pick<ClusterView, 'readiness' | 'evidence' | 'unsynced'>;

export interface RepairOptions extends LeaderDeps<RepairView> {
  metrics: RepairMetrics;
}

/** Milliseconds for which found nodes are used again, because the search is costly. */
const found = 5000;

export class Reconciler implements Work {
  readonly #client: ApiClient;
  readonly #options: RepairOptions;
  #memory: RepairMemory;
  #reporter: Reporter;
  #state: RepairState | undefined;
  #others: { isOpenTo: OtherNodes; until: number } | undefined;
  /** UIDs of failed pods that were deleted, or in audit mode reported. The watch may still show them as failed. */
  readonly #done = new Set<string>();
  readonly #statefulSets: StatefulSets;

  constructor(client: ApiClient, options: RepairOptions) {
    this.#client = client;
    this.#options = options;
    this.#memory = new RepairMemory(options.view.evidence.hasPassed);
    this.#reporter = reporter(client, options);
    this.#statefulSets = statefulSets(client, options.view.evidence);
  }

  /** Updates this replica's state and the metrics. @returns the keys of failed and released pods */
  async keys(): Promise<Iterable<string>> {
    const { metrics, view } = this.#options;
    const state = this.#stateNow();
    if (state !== this.#state) {
      this.#state = state;
      metrics.state(state);
      this.#forget();
    }
    const now = performance.now();
    metrics.outcomes.inc({ outcome: 'unknown' }, this.#memory.sweep(now));
    for (const reason of skipReasons) metrics.skipped.set({ reason }, 0);
    for (const reason of this.#reporter.reasons()) metrics.skipped.inc({ reason });
    metrics.stopped.set(this.#memory.isStopped(now) ? 1 : 0);
    return keysOf(this.#isActive ? view.evidence.pods() : []);
  }

  get #isActive(): boolean {
    const { unsynced, evidence } = this.#options.view;
    return isWorking(this.#state) && unsynced() === undefined && evidence.synced;
  }

  #forget(): void {
    this.#memory = new RepairMemory(this.#options.view.evidence.hasPassed);
    this.#reporter = reporter(this.#client, this.#options);
    this.#done.clear();
  }

  subscribe(add: (keys: Iterable<string>) => void): () => void {
    return this.#options.view.evidence.subscribe((changes) => add(this.#observe(changes)));
  }

  /** @returns the keys of changed pods, and, after a pod has passed, of all pods of its controller */
  #observe(changes: readonly EvidenceChange[]): string[] {
    const { evidence } = this.#options.view;
    return changes.flatMap((change) => {
      const outcome = this.#memory.observe(change, performance.now());
      if (outcome !== undefined) this.#options.metrics.outcomes.inc({ outcome });
      const { before, now } = change;
      for (const owner of new Set([before?.owner, now?.owner])) if (owner) this.#statefulSets.changed(owner);
      if (before?.verdict === 'failed' && now?.verdict !== 'failed') {
        this.#reporter.forget(before.uid);
        this.#done.delete(before.uid);
      }
      const hasPassed = now?.verdict === 'passed' && before?.verdict !== 'passed';
      return [...keysOf(now ? [now] : []), ...keysOf(hasPassed ? evidence.ownedBy(now.owner) : [])];
    });
  }

  /** @throws ClusterError if the API server does not answer */
  async reconcile(key: string): Promise<Result> {
    const uid = key.slice(key.indexOf('/') + 1);
    const { evidence } = this.#options.view;
    const known = evidence.pod(uid);
    if (known !== undefined && this.#isActive) await this.#statefulSets.read(known);
    const pod = evidence.pod(uid);
    if (pod === undefined || !this.#isActive) return undefined;
    if (pod.releasedFrom !== undefined) return this.#finish(pod);
    if (pod.verdict !== 'failed' || this.#done.has(uid)) return undefined;
    const decision = this.#decide(pod);
    if ('how' in decision) {
      return this.#state === 'audit' ? this.#audit(decision) : this.#recreate(decision);
    }
    await this.#reporter.skipped(pod, decision);
    return undefined;
  }

  #decide(pod: PodEvidence): Recreation | Skipped {
    const { view, policy } = this.#options;
    const { repair } = policy();
    const now = performance.now();
    const known: KnownCluster = { ...view, policy: policy(), now: Date.now() };
    if (this.#others === undefined || now >= this.#others.until) {
      this.#others = { isOpenTo: otherNodes(known), until: now + found };
    }
    return decide(pod, {
      owners: repair.owners,
      enforces: this.#state === 'recreate',
      node: (node, profile) => networkOn(node, profile, known, pod.owner),
      elsewhere: this.#others.isOpenTo,
      lowestOrdinal: (failed) => this.#statefulSets.lowest(failed),
      limit: (failed, turn) => this.#memory.limit(failed, turn, repair, now),
    });
  }

  async #audit(recreation: Recreation): Promise<Result> {
    const { pod } = recreation;
    this.#memory.take(pod, this.#options.policy().repair);
    this.#done.add(pod.uid);
    this.#options.metrics.recreations.inc({ result: 'would' });
    await this.#reporter.recreated(recreation, 'wouldRecreate');
    return undefined;
  }

  async #recreate(recreation: Recreation): Promise<Result> {
    const { view, policy, metrics } = this.#options;
    const { pod, moves } = recreation;
    const memory = this.#memory;
    memory.begin(pod, policy().repair, performance.now());
    // reserves the next attempt on the node, so that no other pod is tried there before the replacement
    for (const profile of moves ? [] : pod.failedProfiles) {
      view.evidence.reservations.reserve(profile, pod.node, pod.owner, Date.now());
    }
    const { result, ...more } = await deletePod(this.#client, recreation);
    metrics.recreations.inc({ result });
    if (result === 'made') {
      this.#done.add(pod.uid);
      await this.#reporter.recreated(recreation, 'recreated');
      return undefined;
    }
    const error = 'error' in more ? more.error : undefined;
    // without an answer, the pod may have been deleted, so the attempt still counts
    if (!(error instanceof ClusterError) || error.status !== undefined) memory.cancel(pod);
    return error === undefined ? undefined : this.#failed(pod, error);
  }

  /** Deletes a pod that this leader or an earlier one has released from its Job. */
  async #finish(pod: PodEvidence): Promise<Result> {
    if (this.#state !== 'recreate' || pod.leaving) return undefined;
    if (!this.#memory.mayFinish(pod, this.#options.policy().repair, performance.now())) return undefined;
    const { result, ...more } = await deleteReleased(this.#client, pod);
    if (result !== 'made') this.#options.metrics.recreations.inc({ result });
    if ('error' in more) return this.#failed(pod, more.error);
    return result === 'conflict' ? 'back-off' : undefined;
  }

  /** @throws the error, so that the pod backs off */
  async #failed(pod: PodEvidence, error: unknown): Promise<never> {
    await this.#reporter.skipped(pod, { reason: 'under-way' });
    throw error;
  }

  #stateNow(): RepairState {
    const { policy, leader } = this.#options;
    const { repair, proof } = policy();
    if (repair.mode === 'off') return 'off';
    if (leader === undefined) return 'no-namespace';
    if (!leader.leads) return 'standby';
    // in warn mode, a pod runs although its proof failed, so it is not deleted
    return proof.mode === 'warn' ? 'audit' : repair.mode;
  }
}

const isWorking = (state: RepairState | undefined): boolean => state === 'recreate' || state === 'audit';

/** `namespace/uid` of failed and released pods. */
function* keysOf(pods: Iterable<PodEvidence>): Generator<string> {
  for (const { uid, namespace, verdict, releasedFrom } of pods) {
    if (verdict === 'failed' || releasedFrom !== undefined) yield `${namespace}/${uid}`;
  }
}
