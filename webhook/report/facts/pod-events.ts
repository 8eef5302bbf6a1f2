import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { Policy } from '../../config/policy.ts';
import { clean } from '../../lib/clean.ts';
import { texts } from '../../lib/limits.ts';
import { eventReasons, eventReporter } from '../../lib/names.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { PodEvent, PodFacts } from './model.ts';
import { ifAllowed } from './observation.ts';

/** Reasons of a kubelet's events on a pod that has no sandbox (pkg/kubelet/events/event.go). */
const ofKubelets = ['FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'];

/** Reasons of the leader's events on a pod whose proof failed. */
const ofRepair = [eventReasons.recreated, eventReasons.wouldRecreate, eventReasons.notRecreated];

/** Reasons of the leader's events on a pod that is held. */
const ofHolds = [eventReasons.nominated, eventReasons.heldForLong, eventReasons.notNominated];

const ofLeader: ReadonlySet<string> = new Set([...ofRepair, ...ofHolds]);

/** So many namespaces are asked about, and so many events of each are read. */
const [mostNamespaces, mostEvents] = [10, 500];

/** What is read of an event. A kubelet writes events of the older API, whose times appear under these names. */
interface ApiEvent {
  metadata?: { name?: string } | null;
  eventTime?: string | null;
  deprecatedLastTimestamp?: string | null;
  series?: { lastObservedTime?: string | null } | null;
  regarding?: { uid?: string } | null;
  reportingController?: string;
  reason?: string;
  note?: string;
}

/**
 * What kubelets last said about pods that have waited for a sandbox for long, and the leader about pods that are held or
 * whose proof failed, by the pod's UID. Nothing is asked where there is no such pod, and nothing is known without the
 * right to list events.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function podEvents(
  client: ApiClient,
  { policy, pods }: { policy: Policy; pods: readonly PodFacts[] },
): Promise<Map<string, PodEvent>> {
  const asked = pods.flatMap((pod) => {
    const reasons = reasonsFor(pod, policy);
    const uid = pod.held?.uid ?? pod.evidence?.uid;
    return reasons.length === 0 || uid === undefined ? [] : [{ namespace: pod.namespace, uid, reasons }];
  });
  const uids = new Set(asked.map(({ uid }) => uid));
  const pages = await Promise.all(
    questions(asked).map(([namespace, reason]) => ifAllowed(eventsOf(client, namespace, reason))),
  );
  const last = new Map<string, PodEvent>();
  for (const event of pages.flatMap((items) => items ?? [])) {
    const uid = event.regarding?.uid ?? '';
    const picked = pickEvent(event);
    const before = last.get(uid);
    if (picked === undefined || !uids.has(uid) || isLess(picked, before)) continue;
    last.set(uid, picked);
  }
  return last;
}

/** Milliseconds after which a pod on a node without a verdict is reported: a large image takes that long. */
const long = 60_000;

/** Whether a pod has been on its node for long without a verdict. @param now milliseconds since the epoch */
export const hasWaitedLong = (
  { verdict, leaving, ended, at, createdAt }: PodEvidence,
  now: number,
): boolean => verdict === 'waiting' && !leaving && !ended && now - (at ?? createdAt) >= long;

/** The reasons of events that say what a pod waits for, or what became of its failed proof. */
function reasonsFor({ proof, evidence, held }: PodFacts, { steer, repair }: Policy): readonly string[] {
  if (held !== undefined) return steer.mode === 'off' || held.nominated !== '' ? [] : ofHolds;
  if (evidence === undefined) return [];
  if (proof === 'failed') return repair.mode === 'off' ? [] : ofRepair;
  return proof === 'waiting' && !evidence.hasSandbox && hasWaitedLong(evidence, Date.now()) ? ofKubelets : [];
}

/** Whether an event says less than the one that is known: why a pod is not nominated says more than that it is held. */
const isLess = (one: PodEvent, known: PodEvent | undefined): boolean => {
  const rank = ({ reason }: PodEvent): number => (reason === eventReasons.heldForLong ? 0 : 1);
  return known !== undefined && (rank(one) - rank(known) || one.at - known.at) < 0;
};

/** Undefined for an event that another client wrote with a reason of the leader, or that says nothing. */
function pickEvent(event: ApiEvent): PodEvent | undefined {
  const { metadata, reason = '', note, reportingController } = event;
  const isOurs = ofLeader.has(reason);
  const at = Date.parse(
    event.series?.lastObservedTime ?? event.deprecatedLastTimestamp ?? event.eventTime ?? '',
  );
  if (!note || Number.isNaN(at) || (isOurs && reportingController !== eventReporter)) return undefined;
  // the last part of the name is why the pod is left alone
  const stopped = isOurs && metadata?.name?.endsWith('.breaker') === true;
  return { at, reason, note: clean(note.slice(0, texts.quoted)), stopped };
}

/** Namespaces and reasons, each pair once. */
function questions(asked: readonly { namespace: string; reasons: readonly string[] }[]): [string, string][] {
  const namespaces = Map.groupBy(asked, ({ namespace }) => namespace);
  return [...namespaces].slice(0, mostNamespaces).flatMap(([namespace, pods]) => {
    const reasons = new Set(pods.flatMap((pod) => pod.reasons));
    return Array.from(reasons, (reason): [string, string] => [namespace, reason]);
  });
}

async function eventsOf(client: ApiClient, namespace: string, reason: string): Promise<ApiEvent[]> {
  const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const query = { fieldSelector: `reason=${reason}`, limit: mostEvents };
  const { items } = await client.request<{ items?: ApiEvent[] | null }>('GET', path, { query });
  return items ?? [];
}
