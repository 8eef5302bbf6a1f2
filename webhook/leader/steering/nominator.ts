import { createHash } from 'node:crypto';
import type { ApiClient } from '../../cluster/client.ts';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { ClusterView } from '../../core/cluster-view.ts';
import type { PendingPod } from '../../core/facts/pending-pod.ts';
import { planLimits } from '../../lib/limits.ts';
import { eventReasons, nameOf } from '../../lib/names.ts';
import type { TokenBucket } from '../../lib/token-bucket.ts';
import type { LeaderDeps, Work } from '../controller.ts';
import { type Gate, gateBy } from '../filters.ts';
import type { SteerMetrics, SteerState } from '../metrics.ts';
import { nominate } from '../pod-requests.ts';
import type { Result } from '../work-queue.ts';
import { Capacity } from './capacity.ts';
import { eligibility } from './eligibility.ts';
import { Nominations } from './nominations.ts';
import { PendingIndex } from './pending-index.ts';
import { NodeSearch } from './search.ts';

export type SteerView = Pick<ClusterView, 'readiness' | 'evidence' | 'pending' | 'unsynced' | 'subscribe'>;

export interface NominatorOptions extends LeaderDeps<SteerView> {
  metrics: SteerMetrics;
  /** Each token pays for the comparison of a pod with a node. */
  bucket: TokenBucket;
}

/** How many tokens a nomination takes. */
const tokensOfNomination = planLimits.perSecond / planLimits.nominations;
/** At most this many nominations are made in one run, so that other keys have their turn. */
const most = 16;
/** How many milliseconds a pod is held before an event explains why no node is nominated. */
const quiet = 10_000;
/** How many slots of the event queue are kept free for other events. */
const reservedEvents = 100;

type RefusedPod = PendingPod & { refused: string };

/** Nominates nodes for refused pods. Pods with the same key have the same owner, profiles and requirements. */
export class Nominator implements Work {
  readonly #client: ApiClient;
  readonly #options: NominatorOptions;
  readonly #capacity: Capacity;
  readonly #eligibility: ReturnType<typeof eligibility>;
  readonly #pods: PendingIndex;
  readonly #nominations = new Nominations();
  #state: SteerState | undefined;

  constructor(client: ApiClient, options: NominatorOptions) {
    this.#client = client;
    this.#options = options;
    this.#eligibility = eligibility(client, options);
    this.#pods = new PendingIndex(() => options.view.pending());
    this.#capacity = new Capacity(client, this.#pods);
  }

  subscribe(add: (keys: Iterable<string>) => void): () => void {
    return this.#options.view.subscribe((changed) => {
      this.#pods.changed();
      add(changed.filter(isRefused).map(({ key }) => key));
    });
  }

  /** Keys with refused pods or open nominations. @throws ClusterError if the API server's version cannot be read */
  async keys(signal: AbortSignal): Promise<Set<string>> {
    this.#state = await this.#eligibility(signal);
    this.#options.metrics.state(this.#state);
    // no event reports a refusal that only this process knows
    this.#pods.changed();
    return new Set([...this.#pods.refused(), ...this.#nominations.keys()]);
  }

  /** @throws ClusterError, or the signal's reason */
  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const { view, policy, bucket } = this.#options;
    if (view.unsynced() !== undefined) return undefined;
    const pods = this.#pods.of(key);
    const backOff = this.#settle(key, pods);
    if (this.#state !== 'steering') return undefined;
    if (backOff) return 'back-off';
    bucket.take(pods.length);
    const facts = { policy: policy(), readiness: view.readiness, evidence: view.evidence };
    const gate = gateBy(facts, Date.now(), pods[0] && { owner: pods[0].group });
    const waiting = pods.filter(isRefused).filter((pod) => this.#needsNode(pod, gate));
    if (waiting.length > 0) await this.#nominateSome(waiting, gate, signal);
    return undefined;
  }

  /** @returns whether the key has to back off, after a nomination that the scheduler ignored */
  #settle(key: string, pods: readonly PendingPod[]): boolean {
    const { metrics, log } = this.#options;
    const { ended, backOff } = this.#nominations.settle(key, pods, Date.now());
    for (const { pod, node, outcome } of ended) {
      metrics.outcomes.inc({ outcome });
      if (outcome === 'left') continue;
      const name = nameOf(pod);
      log.info({ pod: name, node }, `the scheduler did not use the nomination of ${node} for pod ${name}`);
      const why = `the scheduler did not bind the pod to node ${node}, which was nominated`;
      this.#explain(pod, `${why}: cni-gate tries again after a pause of up to five minutes`, 0);
    }
    return backOff;
  }

  /**
   * Whether the gate may refuse the pod again, and the pod has no usable nomination. Another component's nomination is
   * kept unless the gate blocks the nominated node.
   */
  #needsNode(pod: RefusedPod, gate: Gate): boolean {
    const { leaving, tooLarge, nominated, profiles, refused } = pod;
    if (!['blocked', 'try'].includes(gate(profiles, refused).kind)) return false;
    if (leaving || this.#nominations.isOpen(pod)) return false;
    if (tooLarge) this.#explain(pod, 'its requirements are too large to compare them with nodes');
    const { readiness } = this.#options.view;
    const isTaken = readiness.node(nominated) !== undefined && gate(profiles, nominated).kind !== 'blocked';
    return !tooLarge && !isTaken;
  }

  async #nominateSome(waiting: readonly RefusedPod[], gate: Gate, signal: AbortSignal): Promise<void> {
    const { view, bucket } = this.#options;
    const [pods, capacity] = [this.#pods, this.#capacity];
    const search = new NodeSearch({ readiness: view.readiness, gate, pods, capacity, bucket });
    let left = most;
    for (const pod of waiting) {
      if (left === 0) return;
      if (pod.unverifiable && this.#nominations.window(pod.key) <= 0) {
        this.#explain(
          pod,
          'only the scheduler can judge its constraints: another pod of its owner is tried first',
        );
        continue;
      }
      const placement = await search.place(pod, signal);
      if (placement === 'unknown') return;
      if ('why' in placement) {
        this.#explain(pod, placement.why);
        continue;
      }
      const why = `it is ready for ${pod.profiles.join(', ')} and has free capacity`;
      await this.#write(pod, placement.node, why, signal);
      left -= 1;
    }
  }

  /** @throws ClusterError if the nomination cannot be written */
  async #write(pod: RefusedPod, node: string, why: string, signal: AbortSignal): Promise<void> {
    const { metrics, events, log, leader, bucket } = this.#options;
    if (leader?.leads !== true) return;
    bucket.take(tokensOfNomination);
    const written = await nominate(this.#client, { pod, node }, signal);
    signal.throwIfAborted();
    metrics.nominations.inc({ result: written.result });
    if (written.result === 'failed') throw written.error;
    // a pod that has changed is reconciled again when the watch reports the change
    if (written.result !== 'made') return;
    this.#nominations.add(pod, node, Date.now());
    events.add({
      ...eventOn(pod, `node ${node} is nominated, after node ${pod.refused} was refused: ${why}`),
      reason: eventReasons.nominated,
      occasion: written.version,
      node,
    });
    const name = nameOf(pod);
    log.info(
      { pod: name, node, refused: pod.refused, why },
      `pod ${name}, refused on node ${pod.refused}, is nominated for node ${node}: ${why}`,
    );
  }

  /** Adds an event that explains a held pod. @param after how many milliseconds of the hold it is added */
  #explain(pod: PendingPod, why: string, after = quiet): void {
    const { events } = this.#options;
    const isLong = Date.now() - (pod.heldSince ?? 0) >= after;
    if (!isLong || events.capacity <= reservedEvents) return;
    events.add({
      ...eventOn(pod, why),
      reason: eventReasons.notNominated,
      // a different reason makes a new event
      occasion: createHash('sha256').update(why).digest('hex').slice(0, 16),
      ...(pod.refused !== undefined && { node: pod.refused }),
    });
  }
}

const eventOn = (pod: PendingPod, note: string): Omit<Event, 'reason' | 'occasion'> => ({
  regarding: podReference(pod),
  type: 'Normal',
  action: 'Nominate',
  note: fitNote(note),
});

const isRefused = (pod: PendingPod): pod is RefusedPod => pod.refused !== undefined;
