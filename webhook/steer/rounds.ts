import type { Policy } from '../config/policy.ts';
import type { Notices } from '../events/notices.ts';
import type { ClusterView } from '../gate/cluster-view.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterError } from '../kubernetes/errors.ts';
import type { Leadership } from '../kubernetes/lease/leadership.ts';
import type { Log } from '../lib/deps.ts';
import { planLimits } from '../lib/limits.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { acceptsBy, trialsBy } from './accepts.ts';
import { History } from './history.ts';
import type { TurnResult } from './leader-loop.ts';
import type { SteerMetrics } from './metrics.ts';
import { NodeUsages } from './node-usages.ts';
import { nominate } from './nominate.ts';
import { nominatedNotice } from './notice.ts';
import type { PendingPod } from './pending-pod.ts';
import { isOutdated, type Nomination, type Plan, planning, type Snapshot } from './plan.ts';
import { inSlices } from './slices.ts';
import { Turns } from './turns.ts';

/** The part of a {@link ClusterView} that steering reads. */
export type SteerView = Pick<
  ClusterView<PendingPod>,
  'readiness' | 'evidence' | 'pending' | 'unsynced' | 'subscribe'
>;

/** What steering works with. */
export interface SteeringOptions {
  view: SteerView;
  /** The policy in force. */
  policy: () => Policy;
  /** Undefined where there can be no leader: nothing is steered then. */
  leader: Leadership | undefined;
  metrics: SteerMetrics;
  /** Takes the events for nominations. */
  notices: Pick<Notices, 'add'>;
  log: Log;
}

/** The longest time between two rounds, in milliseconds. Nodes fill and empty without any event here. */
export const interval = 2000;
/** Nominations a second, at once after a pause, and in parallel. */
const [perSecond, burst, inParallel] = [25, 50, 10];

/** Rounds of steering: look what became of nominations, plan, and write new ones. */
export class Rounds {
  readonly #client: ApiClient;
  readonly #options: SteeringOptions;
  readonly #warn: (error: unknown) => void;
  readonly #usages: NodeUsages;
  readonly #rate = new TokenBucket(perSecond, burst);
  #history = new History();
  #turns = new Turns();

  /** @param warn called with a failure that concerns one nomination */
  constructor(client: ApiClient, options: SteeringOptions, warn: (error: unknown) => void) {
    this.#client = client;
    this.#options = options;
    this.#warn = warn;
    this.#usages = new NodeUsages(client);
  }

  /** Forgets nominations and pauses: another leader may have nominated meanwhile. */
  forget(): void {
    this.#history = new History();
    this.#turns = new Turns();
  }

  /** @throws ClusterError where the API server does not answer, or the signal's reason */
  async round(signal: AbortSignal): Promise<TurnResult> {
    const { view, metrics } = this.#options;
    this.#observe();
    if (view.unsynced() !== undefined) return { next: interval, busy: 0 };
    const max = this.#rate.left(performance.now());
    let { value: planned, busy } = await this.#plan(max, signal);
    if (await this.#usages.ask(planned.unknown, performance.now(), signal)) {
      const second = await this.#plan(max, signal);
      planned = second.value;
      busy += second.busy;
    }
    const { nominations, queues, isCut, again } = planned;
    this.#turns.done(queues);
    if (isCut) metrics.cut();
    this.#rate.take(nominations.length);
    for (let from = 0; from < nominations.length; from += inParallel) {
      const some = this.#upToDate(nominations.slice(from, from + inParallel));
      await Promise.all(some.map((nomination) => this.#nominate(nomination, signal)));
    }
    const pause = again === undefined ? interval : Math.min(interval, Math.max(0, again - Date.now()));
    const next = nominations.length === max ? 1000 / perSecond : isCut ? 0 : pause;
    return { next, busy };
  }

  #pending(): Map<string, PendingPod> {
    return new Map(Array.from(this.#options.view.pending(), (pod) => [pod.uid, pod]));
  }

  #observe(): void {
    const { metrics, log } = this.#options;
    for (const { pod, node, outcome } of this.#history.observe(this.#pending(), Date.now())) {
      metrics.ended(outcome);
      if (outcome !== 'left')
        log.info({ pod, node, outcome }, `the nomination of ${node} for pod ${pod} ${outcomes[outcome]}`);
    }
  }

  async #plan(max: number, signal: AbortSignal): Promise<{ value: Plan; busy: number }> {
    const { view, policy } = this.#options;
    const now = Date.now();
    const known: Snapshot = {
      nodes: [...view.readiness.nodes()],
      accepts: acceptsBy(policy(), view.readiness, now, view.evidence),
      isTrial: trialsBy(policy(), view.readiness, now, view.evidence),
      usage: (node) => this.#usages.get(node, performance.now()),
      history: this.#history,
      // the same for a while, as the usage of nodes is known for a while
      start: Math.floor(now / 10_000) * 61,
      now,
    };
    const pending = this.#pending().values();
    return inSlices(
      (work) => planning(pending, known, { max, budget: planLimits.roundSteps, work, turns: this.#turns }),
      signal,
    );
  }

  /** The nominations for which nothing changed since planning. The next round plans the others again. */
  #upToDate(nominations: readonly Nomination[]): Nomination[] {
    const { view, policy, metrics } = this.#options;
    const accepts = acceptsBy(policy(), view.readiness, Date.now(), view.evidence);
    const pending = this.#pending();
    const nodes = new Map(Array.from(view.readiness.nodes(), (node) => [node.name, node]));
    return nominations.filter(({ pod, node }) => {
      const latest = { pod: pending.get(pod.uid), node: nodes.get(node), accepts };
      if (!isOutdated({ pod }, latest)) return true;
      metrics.nominated('outdated');
      return false;
    });
  }

  async #nominate(nomination: Nomination, signal: AbortSignal): Promise<void> {
    const { pod, node, why } = nomination;
    const { metrics, notices, log, leader } = this.#options;
    if (leader?.leads !== true) return;
    const written = await nominate(this.#client, nomination, signal);
    signal.throwIfAborted();
    metrics.nominated(written.result);
    if (written.result === 'made') {
      this.#history.made(nomination, written.version, Date.now());
      notices.add(nominatedNotice(nomination, written.version));
      const name = `${pod.namespace}/${pod.name}`;
      log.info(
        { pod: name, node, refused: pod.refused, why },
        `pod ${name}, refused on node ${pod.refused}, is nominated for node ${node}: ${why}`,
      );
    } else if (written.result === 'failed') {
      // an outage is not the pod's fault
      if (isOutage(written.error)) throw written.error;
      this.#history.failed(pod, Date.now());
      this.#warn(written.error);
    } else {
      this.#history.stale(pod);
    }
  }
}

/** Whether the API server gave no answer, or said that it cannot answer now. */
const isOutage = (error: unknown): boolean =>
  error instanceof ClusterError &&
  (error.status === undefined || error.status === 429 || error.status >= 500);

const outcomes = {
  ignored: 'was ignored by the scheduler',
  raced: 'was cleared at once, maybe unseen',
  replaced: 'was replaced by another',
  expired: 'had no effect for a minute',
};
