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
import { capacity } from './capacity.ts';
import { Nominations } from './nominations.ts';
import { pendingIndex } from './pending-index.ts';
import { nodeSearch } from './search.ts';
import { type ApiVersion, usesNominations } from './version.ts';

export type SteerView = Pick<ClusterView, 'readiness' | 'evidence' | 'pending' | 'unsynced' | 'subscribe'>;

/** Each comparison of a pod with a node takes a token of the bucket. */
type Options = LeaderDeps<SteerView> & { metrics: SteerMetrics; bucket: TokenBucket };

/** How many tokens a nomination takes. */
const tokensOfNomination = planLimits.perSecond / planLimits.nominations;
/** The maximum number of nominations in one reconciliation, so that other keys get their turn. */
const most = 16;
/** How long, in milliseconds, a pod must be held before an event explains why no node is nominated. */
const quiet = 10_000;
/** Slots of the event queue that are kept free for other events. */
const reservedEvents = 100;

type RefusedPod = PendingPod & { refused: string };

/** Nominates nodes for refused pods. Pods with the same key have the same owner, profiles and requirements. */
export function nominator(client: ApiClient, options: Options): Work {
  const { view, policy, leader, events, log, metrics, bucket } = options;
  const pods = pendingIndex(() => view.pending());
  const reserve = capacity(client, pods);
  const nominations = new Nominations();
  let state: SteerState | undefined;
  /** Whether the API server is new enough. If not, its version is read again, because it may be upgraded. */
  let isNewEnough = false;

  async function stateNow(signal: AbortSignal): Promise<SteerState> {
    if (policy().steer.mode === 'off') return 'off';
    if (!leader.leads) return 'standby';
    isNewEnough ||= usesNominations(await client.request<ApiVersion>('GET', '/version', { signal }));
    return isNewEnough ? 'steering' : 'api-server-too-old';
  }

  /** Adds an event that explains why a pod is still held. @param after how many milliseconds it must have been held */
  function explain(pod: PendingPod, why: string, after = quiet): void {
    const isLong = Date.now() - (pod.heldSince ?? 0) >= after;
    if (!isLong || events.capacity <= reservedEvents) return;
    events.add({
      ...eventOn(pod, why),
      reason: eventReasons.notNominated,
      // the event's name depends on `why`, so only a new text gets a new event
      occasion: createHash('sha256').update(why).digest('hex').slice(0, 16),
      ...(pod.refused !== undefined && { node: pod.refused }),
    });
  }

  /** @returns whether the key must back off, because the scheduler ignored a nomination */
  function settle(key: string, waiting: readonly PendingPod[]): boolean {
    const { ended, backOff } = nominations.settle(key, waiting, Date.now());
    for (const { pod, node, outcome } of ended) {
      metrics.outcomes.inc({ outcome });
      if (outcome === 'left') continue;
      const name = nameOf(pod);
      log.info({ pod: name, node }, `the scheduler did not use the nomination of ${node} for pod ${name}`);
      const why = `the scheduler did not bind the pod to node ${node}, which was nominated`;
      explain(pod, `${why}: cni-gate tries again after a pause`, 0);
    }
    return backOff;
  }

  /**
   * Whether the gate might refuse the pod on the refused node again, and the pod has no usable nomination. Another
   * component's nomination is usable unless the gate blocks that node.
   */
  function needsNode(pod: RefusedPod, gate: Gate): boolean {
    const { leaving, tooLarge, nominated, profiles, refused } = pod;
    if (!['blocked', 'try'].includes(gate(profiles, refused).kind)) return false;
    if (leaving || nominations.isOpen(pod)) return false;
    if (tooLarge) explain(pod, 'its requirements are too large to compare them with nodes');
    const isKnown = view.readiness.node(nominated) !== undefined;
    return !tooLarge && !(isKnown && gate(profiles, nominated).kind !== 'blocked');
  }

  async function nominateSome(
    waiting: readonly RefusedPod[],
    gate: Gate,
    signal: AbortSignal,
  ): Promise<void> {
    const place = nodeSearch({ readiness: view.readiness, gate, pods, reserve, bucket });
    let left = most;
    for (const pod of waiting) {
      if (left === 0) return;
      if (pod.unverifiable && nominations.window(pod.key) <= 0) {
        explain(pod, 'only the scheduler can check its constraints: another pod of its owner is tried first');
        continue;
      }
      const placement = await place(pod, signal);
      if (placement === 'unknown') return;
      if ('why' in placement) {
        explain(pod, placement.why);
        continue;
      }
      await write(pod, placement.node, signal);
      left -= 1;
    }
  }

  /** @throws ClusterError if the nomination cannot be written */
  async function write(pod: RefusedPod, node: string, signal: AbortSignal): Promise<void> {
    if (!leader.leads) return;
    bucket.take(tokensOfNomination);
    const written = await nominate(client, { pod, node }, signal);
    signal.throwIfAborted();
    metrics.nominations.inc({ result: written.result });
    if (written.result === 'failed') throw written.error;
    // otherwise, the pod has changed or is gone, which the watch reports
    if (written.result !== 'made') return;
    nominations.add(pod, node, Date.now());
    const why = `it is ready for ${pod.profiles.join(', ')} and has free capacity`;
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

  return {
    subscribe: (add) =>
      view.subscribe((changed) => {
        pods.changed();
        add(changed.filter(isRefused).map(({ key }) => key));
      }),

    /** Keys with refused pods or open nominations. Throws a ClusterError if it cannot read the API server's version. */
    keys: async (signal) => {
      state = await stateNow(signal);
      metrics.state(state);
      // refusals by this replica's own gate cause no watch event, so the index is rebuilt
      pods.changed();
      return new Set([...pods.refused(), ...nominations.keys()]);
    },

    /** Throws a ClusterError, or the signal's reason. */
    reconcile: async (key, signal) => {
      if (view.unsynced() !== undefined) return undefined;
      const waiting = pods.of(key);
      const backOff = settle(key, waiting);
      if (state !== 'steering') return undefined;
      if (backOff) return 'back-off';
      bucket.take(waiting.length);
      const facts = { policy: policy(), readiness: view.readiness, evidence: view.evidence };
      const gate = gateBy(facts, Date.now(), waiting[0] && { owner: waiting[0].group });
      const refused = waiting.filter(isRefused).filter((pod) => needsNode(pod, gate));
      if (refused.length > 0) await nominateSome(refused, gate, signal);
      return undefined;
    },
  };
}

const eventOn = (pod: PendingPod, note: string): Omit<Event, 'reason' | 'occasion'> => ({
  regarding: podReference(pod),
  type: 'Normal',
  action: 'Nominate',
  note: fitNote(note),
});

const isRefused = (pod: PendingPod): pod is RefusedPod => pod.refused !== undefined;
