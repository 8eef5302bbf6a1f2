import type { ClusterView } from '../../admission/gate/cluster-view.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError, unansweredBy } from '../../cluster/errors.ts';
import type { EventRecorder } from '../../cluster/events/recorder.ts';
import type { Leadership } from '../../cluster/lease/leadership.ts';
import type { Policy } from '../../config/policy.ts';
import type { Log } from '../../lib/deps.ts';
import type { EvidenceChange } from '../../nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { Result } from '../work-queue.ts';
import { type Decision, decide } from './decide.ts';
import { deletePod, deleteReleased } from './delete-pod.ts';
import { type Ended, RepairMemory } from './memory.ts';
import type { RepairMetrics, RepairState } from './metrics.ts';
import { Networks } from './networks.ts';
import { Reporter } from './reporter.ts';
import type { Recreation } from './types.ts';

/** The part of a {@link ClusterView} that repair reads. */
export type RepairView = Pick<ClusterView, 'readiness' | 'evidence' | 'unsynced'>;

/** What repair works with. */
export interface RepairOptions {
  view: RepairView;
  /** The policy in force. */
  policy: () => Policy;
  /** Undefined where there can be no leader: nothing is repaired then. */
  leader: Leadership | undefined;
  metrics: RepairMetrics;
  events: Pick<EventRecorder, 'add' | 'capacity'>;
  log: Log;
}

/** How long what is known of nodes is used, and the other nodes that are found for pods, in milliseconds. */
const [fresh, found] = [500, 5000];

/** Recreates failed pods: looks at one pod, decides, deletes it and says so. */
export class Reconciler {
  readonly #client: ApiClient;
  readonly #options: RepairOptions;
  #memory = new RepairMemory();
  #reporter: Reporter;
  #state: RepairState | undefined;
  #networks: Networks | undefined;
  /** The same, used longer: the search for other nodes is the costly part. */
  #others: Networks | undefined;

  constructor(client: ApiClient, options: RepairOptions) {
    this.#client = client;
    this.#options = options;
    this.#reporter = new Reporter(client, options);
  }

  /** Whether this replica looks at pods now. If it does something else than before, it forgets what it remembers. */
  isActive(): boolean {
    const { metrics, view } = this.#options;
    const state = this.#stateNow();
    if (state !== this.#state) {
      this.#state = state;
      metrics.state(state);
      this.forget();
    }
    const isActive = state === 'recreate' || state === 'audit';
    return isActive && view.unsynced() === undefined && view.evidence.synced;
  }

  /** Measures, and forgets what is old. Call it now and then. */
  sweep(): void {
    this.isActive();
    const now = performance.now();
    for (const ended of this.#memory.forgetOld(now)) this.#ended(ended);
    this.#reporter.forgetOld();
    this.#options.metrics.skipped(this.#reporter.counts, this.#memory.outcomes.isStopped(now));
  }

  /** Forgets deletions, pauses and events: another leader may have recreated pods meanwhile. */
  forget(): void {
    this.#memory = new RepairMemory();
    this.#reporter = new Reporter(this.#client, this.#options);
  }

  /** Has to hear of all changes of the evidence, before pods are looked at because of them. */
  observe(changes: readonly EvidenceChange[]): void {
    for (const change of changes) {
      const ended = this.#memory.observe(change, performance.now());
      if (ended !== undefined) this.#ended(ended);
      const { before, now } = change;
      if (before?.verdict === 'failed' && now?.verdict !== 'failed') this.#reporter.forget(before.uid);
    }
  }

  /**
   * Looks at a pod.
   *
   * @throws ClusterError where the API server cannot answer
   */
  async reconcile(uid: string): Promise<Result> {
    const pod = this.#options.view.evidence.pod(uid);
    if (pod === undefined || this.#state === undefined) return undefined;
    if (pod.releasedFrom !== undefined) return this.#finish(pod);
    if (pod.verdict !== 'failed') return undefined;
    const decision = this.#decide(pod);
    if (decision.decision === 'recreate') {
      return this.#state === 'audit' ? this.#audit(decision) : this.#recreate(decision);
    }
    // its event says that it would be recreated
    if (this.#state === 'audit' && decision.reason === 'under-way') return undefined;
    await this.#reporter.skipped({ pod, ...decision });
    return decision.decision === 'wait' ? { after: decision.ms } : undefined;
  }

  #decide(pod: PodEvidence): Decision {
    const { view, policy } = this.#options;
    const { repair } = policy();
    const networks = this.#renewed(this.#networks, fresh);
    const others = this.#renewed(this.#others, found);
    this.#networks = networks;
    this.#others = others;
    return decide(pod, {
      owners: repair.owners,
      node: (node, profile) => networks.node(node, profile),
      elsewhere: (one) => others.elsewhere(one),
      ownedBy: (owner) => view.evidence.ownedBy(owner),
      failedOn: (node) => networks.failedOn(node),
      limits: this.#memory.limits(repair, performance.now()),
    });
  }

  /** @param longest how long what is known is used, in milliseconds */
  #renewed(known: Networks | undefined, longest: number): Networks {
    if (known !== undefined && performance.now() - known.madeAt < longest) return known;
    const { view, policy } = this.#options;
    return new Networks({ ...view, policy: policy(), now: Date.now() });
  }

  async #audit(recreation: Recreation): Promise<Result> {
    this.#memory.audited(recreation.pod, this.#options.policy().repair);
    this.#options.metrics.recreated('would');
    await this.#reporter.recreated(recreation, 'wouldRecreate');
    return undefined;
  }

  async #recreate(recreation: Recreation): Promise<Result> {
    const { pod } = recreation;
    const memory = this.#memory;
    memory.begin(recreation, this.#options.policy().repair, performance.now());
    const recreated = await deletePod(this.#client, recreation);
    this.#options.metrics.recreated(recreated.result);
    if (recreated.result === 'failed') {
      // without an answer, it may have been made
      if (!mayBeMade(recreated.error)) memory.cancel(recreation);
      return this.#failed(pod, recreated.error);
    }
    if (recreated.result !== 'made') {
      memory.cancel(recreation);
      memory.outdated(pod);
      return undefined;
    }
    memory.done(pod);
    await this.#reporter.recreated(recreation, 'recreated');
    return undefined;
  }

  /** Deletes a pod that the leader before, or an outage, left between release and deletion. */
  async #finish(pod: PodEvidence): Promise<Result> {
    const memory = this.#memory;
    const now = performance.now();
    const isDone = pod.leaving || memory.isAnswered(pod);
    if (this.#state !== 'recreate' || isDone || !memory.mayFinish(pod, now)) return undefined;
    const removed = await deleteReleased(this.#client, pod);
    this.#options.metrics.recreated(removed.result);
    if (removed.result === 'failed') return this.#failed(pod, removed.error);
    if (removed.result === 'conflict') return 'back-off';
    memory.done(pod);
    return undefined;
  }

  /** @throws the error, unless it is about this pod alone */
  async #failed(pod: PodEvidence, error: unknown): Promise<Result> {
    await this.#reporter.skipped({ pod, reason: 'under-way', why: '' });
    // a webhook of others cannot be called, or keeps the API server waiting: other pods go first
    const isOfPod = error instanceof ClusterError && error.status === 500;
    if (!isOfPod && unansweredBy(error) !== 'silent') throw error;
    this.#reporter.failed(pod, error);
    return 'back-off';
  }

  #ended(ended: Ended): void {
    this.#options.metrics.ended(ended.outcome);
    this.#reporter.ended(ended);
  }

  #stateNow(): RepairState {
    const { policy, leader } = this.#options;
    const { repair, proof } = policy();
    if (repair.mode === 'off') return 'off';
    if (leader === undefined) return 'no-namespace';
    if (!leader.leads) return 'standby';
    // with proof.mode warn, a pod whose proof failed runs
    return proof.mode === 'warn' ? 'audit' : repair.mode;
  }
}

/** Whether the API server may have done what it was asked for, though there is no answer. */
const mayBeMade = (error: unknown): boolean => ['cut', 'silent'].includes(unansweredBy(error) ?? '');
