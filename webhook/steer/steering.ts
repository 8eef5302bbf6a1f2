import { setTimeout as sleep } from 'node:timers/promises';
import type { Policy } from '../config/policy.ts';
import type { ClusterView } from '../gate/cluster-view.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterError } from '../kubernetes/errors.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { planLimits } from '../lib/limits.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { acceptsBy } from './accepts.ts';
import { Eligibility, type Leadership } from './eligibility.ts';
import { History } from './history.ts';
import { Knowledge } from './knowledge.ts';
import type { SteerMetrics, SteerState } from './metrics.ts';
import { nominate } from './nominate.ts';
import { nominatedNotice } from './notice.ts';
import type { Notices } from './notices.ts';
import { Notifier } from './notifier.ts';
import { isOutdated } from './outdated.ts';
import type { PendingPod } from './pending-pod.ts';
import { type Nomination, type Plan, planning, type Snapshot } from './plan.ts';
import { inSlices, restAfter } from './slices.ts';
import { Turns } from './turns.ts';

/** The part of a {@link ClusterView} that steering reads. */
export type SteerView = Pick<ClusterView<PendingPod>, 'readiness' | 'pending' | 'unsynced' | 'subscribe'>;

export interface SteeringOptions {
  view: SteerView;
  /** The policy in force. */
  policy: () => Policy;
  /** Undefined where there can be no leader: nothing is done then. */
  leader: Leadership | undefined;
  metrics: SteerMetrics;
  /** Where nominations are told on their pods. */
  notices: Pick<Notices, 'tell'>;
  log: Log;
}

/** How long changes are gathered before they are looked at: a refusal rarely comes alone. Milliseconds. */
const gather = 50;
/** How often pods that wait are looked at where nothing happens: nodes become full and empty unseen. */
const interval = 2000;
/** Between faults of the API server and the next try: the first pause, and the longest. */
const [pause, longestPause] = [1000, 30_000];
/** So many nominations are written: a second, at once after a rest, and side by side. */
const [perSecond, burst, sideBySide] = [25, 50, 10];

/** Sends pods that were refused to nodes that take them, while this process leads. */
export class Steering {
  readonly #client: ApiClient;
  readonly #options: SteeringOptions;
  readonly #eligibility: Eligibility;
  readonly #knowledge: Knowledge;
  readonly #rate = new TokenBucket(perSecond, burst);
  #history = new History();
  #turns = new Turns();
  /** Whether the lead changed hands since the last turn: what was known of nominations may be wrong. */
  #ledAnew = false;
  /** Woken when the lead changes hands: no rest or pause outlasts that. */
  readonly #lead = new Notifier();
  #faults = 0;
  #reported: string | undefined;
  #state: SteerState | undefined;
  /** How long the last round's plans kept the CPU, in milliseconds. */
  #cost = 0;

  constructor(client: ApiClient, options: SteeringOptions) {
    this.#client = client;
    this.#options = options;
    this.#eligibility = new Eligibility(client, options.leader, options.log);
    this.#knowledge = new Knowledge(client);
  }

  /** What it does; undefined until it has looked. */
  get state(): SteerState | undefined {
    return this.#state;
  }

  /** Runs until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const notify = new Notifier();
    const { view, leader } = this.#options;
    const ledAnew = (): void => {
      this.#ledAnew = true;
      this.#faults = 0;
      this.#lead.notify();
      notify.notify();
    };
    const stop = [view.subscribe(() => notify.notify()), leader?.subscribe(ledAnew)];
    while (!signal.aborted) {
      const next = await this.#turn(signal);
      await notify.wait(next, signal);
      await sleep(gather, undefined, { signal }).catch(() => {});
      // this process has admission calls to answer
      const rest = restAfter(this.#cost) - gather;
      if (rest > 0) await this.#lead.wait(rest, signal);
    }
    for (const unsubscribe of stop) unsubscribe?.();
  }

  /** One look. @returns milliseconds until the next, if nothing happens before */
  async #turn(signal: AbortSignal): Promise<number> {
    try {
      const { policy, metrics } = this.#options;
      const { state, isNew } = await this.#eligibility.check(policy(), signal);
      if (isNew) {
        this.#state = state;
        metrics.state(state);
      }
      if (isNew || this.#ledAnew) {
        // what another leader did meanwhile is not known here
        this.#ledAnew = false;
        this.#history = new History();
        this.#turns = new Turns();
      }
      this.#cost = 0;
      const next = state === 'steering' ? await this.#round(signal) : interval;
      this.#faults = 0;
      return next;
    } catch (error) {
      if (signal.aborted) return 0;
      this.#warn(error);
      const wait = Math.min(pause * 2 ** this.#faults, longestPause);
      this.#faults += 1;
      await this.#lead.wait(wait, signal);
      return 0;
    }
  }

  async #round(signal: AbortSignal): Promise<number> {
    const { view, metrics } = this.#options;
    this.#observe();
    if (view.unsynced() !== undefined) return interval;
    const max = this.#rate.left(performance.now());
    let planned = await this.#plan(max, signal);
    if (await this.#knowledge.learn(planned.unknown, (error) => this.#warn(error), signal)) {
      this.#observe();
      planned = await this.#plan(max, signal);
    }
    const { nominations, queues, isCut, again } = planned;
    this.#turns.done(queues);
    if (isCut) metrics.cut();
    this.#rate.take(nominations.length);
    for (let from = 0; from < nominations.length; from += sideBySide) {
      const some = this.#upToDate(nominations.slice(from, from + sideBySide));
      await Promise.all(some.map((nomination) => this.#nominate(nomination, signal)));
    }
    if (nominations.length === max) return 1000 / perSecond;
    if (isCut) return 0;
    return again === undefined ? interval : Math.min(interval, Math.max(0, again - Date.now()));
  }

  /** Nominations of which nothing has changed since they were planned; others are planned anew in the next round. */
  #upToDate(nominations: readonly Nomination[]): Nomination[] {
    const { view, policy, metrics } = this.#options;
    const accepts = acceptsBy(policy(), view.readiness, Date.now());
    const pending = this.#pending();
    const nodes = new Map(Array.from(view.readiness.nodes(), (node) => [node.name, node]));
    return nominations.filter(({ pod, node }) => {
      const latest = { pod: pending.get(pod.uid), node: nodes.get(node), accepts };
      if (!isOutdated({ pod }, latest)) return true;
      metrics.nominated('outdated');
      return false;
    });
  }

  #pending(): Map<string, PendingPod> {
    return new Map(Array.from(this.#options.view.pending(), (pod) => [pod.uid, pod]));
  }

  #observe(): void {
    const { metrics, log } = this.#options;
    for (const { pod, node, outcome } of this.#history.observe(this.#pending(), Date.now())) {
      metrics.ended(outcome);
      if (outcome !== 'left')
        log.info({ pod, node, outcome }, `a nomination of ${node} for pod ${pod} was ${outcomes[outcome]}`);
    }
  }

  async #plan(max: number, signal: AbortSignal): Promise<Plan> {
    const { view, policy } = this.#options;
    const now = Date.now();
    const known: Snapshot = {
      nodes: [...view.readiness.nodes()],
      accepts: acceptsBy(policy(), view.readiness, now),
      usage: (node) => this.#knowledge.usage(node),
      volumes: (pod) => this.#knowledge.volumes(pod),
      history: this.#history,
      // the same for a while, as what was asked about some nodes is known for a while
      start: Math.floor(now / 10_000) * 61,
      now,
    };
    const pending = this.#pending().values();
    const { value, busy } = await inSlices(
      (work) => planning(pending, known, { max, budget: planLimits.roundSteps, work, turns: this.#turns }),
      signal,
    );
    this.#cost += busy;
    return value;
  }

  async #nominate(nomination: Nomination, signal: AbortSignal): Promise<void> {
    const { pod, node, why } = nomination;
    const { metrics, notices, log, leader } = this.#options;
    if (leader?.leads !== true) return;
    const name = `${pod.namespace}/${pod.name}`;
    const written = await nominate(this.#client, nomination, signal);
    signal.throwIfAborted();
    metrics.nominated(written.result);
    if (written.result === 'made') {
      this.#history.made(nomination, written.version, Date.now());
      notices.tell(nominatedNotice(nomination, written.version));
      log.info(
        { pod: name, node, refused: pod.refused, why },
        `pod ${name}, which node ${pod.refused} was refused for, is nominated for ${node}: ${why}`,
      );
    } else if (written.result === 'failed') {
      // a fault of the API server is no fault of the pod's
      if (isOutage(written.error)) throw written.error;
      this.#history.failed(pod, Date.now());
      this.#warn(written.error);
    } else {
      this.#history.stale(pod);
    }
  }

  /** Each kind of fault once, until another comes: it may be met for each of many pods. */
  #warn(error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    if (kind === this.#reported) return;
    this.#reported = kind;
    this.#options.log.warn(
      { err: error },
      `pods that are refused cannot be sent elsewhere: ${text}; it is tried again`,
    );
  }
}

/** Whether the API server gave no answer, or said that it cannot answer now. */
const isOutage = (error: unknown): boolean =>
  error instanceof ClusterError &&
  (error.status === undefined || error.status === 429 || error.status >= 500);

const outcomes = {
  ignored: 'ignored by the scheduler',
  raced: 'cleared at once, maybe unseen',
  replaced: 'replaced by another',
  expired: 'not looked at',
};
