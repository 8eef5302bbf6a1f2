import type { Policy } from '../config/policy.ts';
import type { Notices } from '../events/notices.ts';
import type { EvidenceChange } from '../evidence/evidence.ts';
import type { Controller, PodEvidence } from '../evidence/facts.ts';
import { ownerKey } from '../evidence/owner.ts';
import type { ClusterView } from '../gate/cluster-view.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterError, unansweredBy } from '../kubernetes/errors.ts';
import type { Leadership } from '../kubernetes/lease/leadership.ts';
import type { Log } from '../lib/deps.ts';
import { repairLimits } from '../lib/limits.ts';
import type { TurnResult } from '../steer/leader-loop.ts';
import { inSlices } from '../steer/slices.ts';
import { type Work, withoutPauses } from '../steer/work.ts';
import { FailedPods } from './failed-pods.ts';
import { RepairHistory } from './history.ts';
import { LeftAlonePods } from './left-alone.ts';
import type { RepairMetrics } from './metrics.ts';
import { type Networks, networksOf } from './networks.ts';
import { type Deed, leftAloneNotice, leftWorkloadNotice, podNotice, workloadNotice } from './notices.ts';
import { planningRepair } from './plan.ts';
import { type Recreated, recreate, removeReleased } from './recreate.ts';
import type { LeftAlone, Recreation } from './types.ts';
import { WorkloadsOfPods } from './workloads.ts';

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
  notices: Pick<Notices, 'add' | 'capacity'>;
  log: Log;
}

/** The longest time between two rounds, in milliseconds. Nodes become ready without any event of a pod. */
export const interval = 2000;
/** Recreations of a round, and in parallel. */
const [most, inParallel] = [50, 5];
/** The largest number of events about pods that are left alone, for each round. */
const mostTold = 20;

/** Rounds of repair: look what became of recreations, plan, and make new ones. */
export class RepairRounds {
  readonly #client: ApiClient;
  readonly #options: RepairOptions;
  readonly #warn: (error: unknown) => void;
  readonly #workloads: WorkloadsOfPods;
  readonly #failed: FailedPods;
  /** Pods that were released and not deleted yet, by UID. */
  readonly #released = new Map<string, PodEvidence>();
  #history = new RepairHistory();
  #left = new LeftAlonePods();

  /** @param warn called with a failure that concerns one pod */
  constructor(client: ApiClient, options: RepairOptions, warn: (error: unknown) => void) {
    this.#client = client;
    this.#options = options;
    this.#warn = warn;
    this.#workloads = new WorkloadsOfPods(client);
    this.#failed = new FailedPods(options.view.evidence.pods());
    for (const pod of options.view.evidence.pods()) this.#keepReleased(pod);
  }

  /** Has to hear of all changes of the evidence. */
  changed(changes: readonly EvidenceChange[]): void {
    this.#failed.apply(changes);
    for (const { before, now } of changes) {
      if (now !== undefined) this.#keepReleased(now);
      else if (before !== undefined) this.#released.delete(before.uid);
    }
  }

  /** Forgets recreations and pauses: another leader may have recreated pods meanwhile. */
  forget(): void {
    this.#history = new RepairHistory();
    this.#left = new LeftAlonePods();
    this.#options.metrics.leftAlone(this.#left.counts, 0);
  }

  /** @throws ClusterError where the API server does not answer, or the signal's reason */
  async round(mode: 'audit' | 'recreate', signal: AbortSignal): Promise<TurnResult> {
    const { view } = this.#options;
    if (view.unsynced() !== undefined || !view.evidence.synced) return { next: interval, busy: 0 };
    const history = this.#history;
    this.#observe(history);
    if (mode === 'recreate') await this.#finishReleased(history);
    const left: LeftAlone[] = [];
    const { value: plan, busy } = await inSlices(
      (work) =>
        planningRepair(
          {
            failed: this.#candidates(),
            ...this.#networks(work),
            budgets: this.#options.policy().repair,
            leftAlone: (one) => left.push(one),
          },
          history,
          performance.now(),
          most,
          work,
        ),
      signal,
    );
    history.needed(namespacesOf(plan.recreations, left), performance.now());
    const done = await this.#make(plan.recreations, mode, history, signal);
    await this.#tell(done, mode === 'recreate' ? 'recreated' : 'wouldRecreate', signal);
    await this.#tellLeft(left, mode, history, signal);
    const pause = plan.again === undefined ? interval : Math.max(0, plan.again - performance.now());
    return { next: plan.recreations.length > 0 ? 0 : Math.min(interval, pause), busy };
  }

  *#candidates(): Generator<PodEvidence> {
    for (const pod of this.#failed) if (pod.releasedFrom === undefined) yield pod;
  }

  #networks(work?: Work): Networks {
    const { view, policy } = this.#options;
    const { readiness, evidence } = view;
    const known = { policy: policy(), readiness, evidence, now: Date.now() };
    return networksOf(work === undefined ? known : { ...known, work });
  }

  #observe(history: RepairHistory): void {
    const { view, metrics, log } = this.#options;
    for (const { recreation, outcome, successor } of history.observe(view.evidence, performance.now())) {
      metrics.ended(outcome);
      const pod = nameOf(recreation.pod);
      const after = successor === undefined ? undefined : nameOf(successor);
      if (outcome === 'failed')
        log.info(
          { pod, after, node: successor?.node },
          `the pod that replaced pod ${pod} failed too: ${after}`,
        );
    }
  }

  /**
   * Deletes pods that the leader before, or an outage, left between release and deletion. That are a few, so there are
   * few requests for each namespace: users can make pods that look like it.
   */
  async #finishReleased(history: RepairHistory): Promise<void> {
    const counts = new Map<string, number>();
    for (const pod of this.#released.values()) {
      if (this.#options.leader?.leads !== true) return;
      if (pod.leaving || history.isBusy(pod, performance.now())) continue;
      const count = (counts.get(pod.namespace) ?? 0) + 1;
      const { ofNamespace, namespaces } = repairLimits.released;
      if (count > ofNamespace || (count === 1 && counts.size >= namespaces)) continue;
      counts.set(pod.namespace, count);
      this.#finished(pod, await removeReleased(this.#client, pod), history);
    }
  }

  #finished(pod: PodEvidence, removed: Recreated, history: RepairHistory): void {
    this.#count(removed);
    if (removed.result === 'failed') this.#failedToDelete(pod, removed.error, history);
    else if (removed.result !== 'conflict') history.finished(pod);
  }

  async #make(
    recreations: readonly Recreation[],
    mode: 'audit' | 'recreate',
    history: RepairHistory,
    signal: AbortSignal,
  ): Promise<Recreation[]> {
    const done: Recreation[] = [];
    for (let from = 0; from < recreations.length; from += inParallel) {
      const networks = this.#networks();
      const results = await Promise.all(
        recreations
          .slice(from, from + inParallel)
          .map(async (recreation) => {
            if (signal.aborted || this.#options.leader?.leads !== true) return;
            if (await this.#makeOne(recreation, mode, history, networks)) done.push(recreation);
          })
          .map((one) => one.catch((error: unknown) => ({ error }))),
      );
      // all of them have ended: what was made is known
      const failure = results.find((result) => result !== undefined);
      if (failure !== undefined) throw failure.error;
    }
    return done;
  }

  async #makeOne(
    recreation: Recreation,
    mode: 'audit' | 'recreate',
    history: RepairHistory,
    networks: Networks,
  ): Promise<boolean> {
    const { pod, why, how } = recreation;
    const { metrics, log, view } = this.#options;
    const name = nameOf(pod);
    if (!this.#isUpToDate(pod, networks)) {
      metrics.recreated('outdated');
      return false;
    }
    const told = { pod: name, node: pod.node, owner: pod.controller?.name, how, why };
    if (mode === 'audit') {
      history.audited(recreation, performance.now());
      metrics.recreated('would');
      log.info(told, `pod ${name}, whose proof failed on node ${pod.node}, would be recreated: ${why}`);
      return true;
    }
    // before the deletion: the pod that replaces it may be reported before the answer
    const siblings = [...view.evidence.ownedBy(pod.owner)];
    const before = { ownedBy: () => siblings };
    const recreated = await recreate(this.#client, recreation);
    this.#count(recreated);
    if (recreated.result === 'made') {
      history.made(recreation, before, performance.now());
      log.info(told, `pod ${name}, whose proof failed on node ${pod.node}, is recreated: ${why}`);
      return true;
    }
    if (recreated.result === 'failed') {
      const unanswered = unansweredBy(recreated.error);
      if (unanswered === 'cut' || unanswered === 'silent')
        history.unanswered(recreation, before, performance.now());
      this.#failedToDelete(pod, recreated.error, history);
    } else history.stale(pod);
    return false;
  }

  /** @throws the error, where all requests would fail now */
  #failedToDelete(pod: PodEvidence, error: unknown, history: RepairHistory): void {
    // an outage is not the pod's fault; a silent API server may wait for a webhook for this pod, so others come first
    if (!isOutage(error) || unansweredBy(error) === 'silent') history.failed(pod, performance.now());
    if (isOutage(error)) throw error;
  }

  #count(recreated: Recreated): void {
    this.#options.metrics.recreated(recreated.result);
    if (recreated.result === 'failed' && !isOutage(recreated.error)) this.#warn(recreated.error);
  }

  /** Whether nothing has changed since planning that would keep the pod from being recreated. */
  #isUpToDate(pod: PodEvidence, networks: Networks): boolean {
    const { uid, version, node, profiles, verdict } = pod;
    const latest = this.#options.view.evidence.pod(uid);
    if (latest === undefined || latest.version !== version || verdict !== 'failed') return false;
    const states = profiles.map((profile) => networks.node(node, profile).state);
    if (states.includes('unreachable')) return false;
    return !states.includes('closed') || withoutPauses(networks.elsewhere(pod));
  }

  async #tell(done: readonly Recreation[], deed: Deed, signal: AbortSignal): Promise<void> {
    const { notices } = this.#options;
    const workloads = new Map<string, { workload: Controller; of: [Recreation, ...Recreation[]] }>();
    for (const recreation of done) {
      const { pod } = recreation;
      notices.add(podNotice(recreation, deed));
      if (pod.controller === undefined) continue;
      const workload = await this.#workloads.of(pod, pod.controller, signal);
      const key = ownerKey(pod.namespace, workload);
      const known = workloads.get(key);
      if (known === undefined) workloads.set(key, { workload, of: [recreation] });
      else known.of.push(recreation);
    }
    for (const { workload, of } of workloads.values()) notices.add(workloadNotice(workload, of, deed));
  }

  async #tellLeft(
    left: readonly LeftAlone[],
    mode: 'audit' | 'recreate',
    history: RepairHistory,
    signal: AbortSignal,
  ): Promise<void> {
    const { notices, metrics } = this.#options;
    const max = Math.min(mostTold, Math.floor(notices.capacity / 2));
    const told = new Set<string>();
    for (const one of this.#left.update(left, performance.now(), max, Date.now())) {
      // its event says that it would be recreated
      if (mode === 'audit' && one.reason === 'under-way') continue;
      notices.add(leftAloneNotice(one));
      const { controller, owner } = one.pod;
      if (controller === undefined || told.has(owner)) continue;
      told.add(owner);
      // a Node has no namespace
      if (one.reason === 'static-pod') continue;
      notices.add(leftWorkloadNotice(await this.#workloads.of(one.pod, controller, signal), one));
    }
    metrics.leftAlone(this.#left.counts, history.stopped().length);
  }

  #keepReleased(pod: PodEvidence): void {
    if (pod.releasedFrom === undefined) this.#released.delete(pod.uid);
    else this.#released.set(pod.uid, pod);
  }
}

/** The namespaces of failed pods that are recreated or could be. */
const namespacesOf = (recreations: readonly Recreation[], left: readonly LeftAlone[]): Set<string> =>
  new Set([
    ...recreations.map(({ pod }) => pod.namespace),
    ...left.flatMap(({ pod }) => (pod.leaving || pod.ended ? [] : pod.namespace)),
  ]);

const nameOf = ({ namespace, name }: PodEvidence): string => `${namespace}/${name}`;

/**
 * Whether the API server gave no answer, or said that it cannot answer now. 500 is about one pod: so it says that
 * somebody's webhook cannot be called for the deletion.
 */
const isOutage = (error: unknown): boolean =>
  error instanceof ClusterError && (error.status === undefined || error.status === 429 || error.status > 500);
