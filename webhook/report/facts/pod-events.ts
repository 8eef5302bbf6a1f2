import { apiPath } from '../../cluster/api-path.ts';
import type { Policy } from '../../config/policy.ts';
import { clean } from '../../lib/clean.ts';
import { texts } from '../../lib/limits.ts';
import { eventReasons, eventReporter } from '../../lib/names.ts';
import type { PodEvent, PodFacts } from './model.ts';
import { ifAllowed } from './observation.ts';
import type { ClusterReader } from './reader.ts';
import { hasWaitedLong } from './waiting.ts';

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
  reader: ClusterReader,
  { policy, pods }: { policy: Policy; pods: readonly PodFacts[] },
): Promise<Map<string, PodEvent>> {
  const asked = pods.flatMap((pod) => {
    const reasons = reasonsFor(pod, policy);
    const uid = pod.held?.uid ?? pod.evidence?.uid;
    return reasons.length === 0 || uid === undefined ? [] : [{ namespace: pod.namespace, uid, reasons }];
  });
  const uids = new Set(asked.map(({ uid }) => uid));
  const pages = await Promise.all(
    questions(asked).map(([namespace, reason]) => ifAllowed(eventsOf(reader, namespace, reason))),
  );
  const last = new Map<string, PodEvent>();
  for (const event of pages.flatMap((items) => items ?? [])) {
    const uid = event.regarding?.uid ?? '';
    const picked = pickEvent(event);
    if (picked === undefined || !uids.has(uid) || picked.at < (last.get(uid)?.at ?? 0)) continue;
    last.set(uid, picked);
  }
  return last;
}

/** The reasons of events that say what a pod waits for, or what became of its failed proof. */
function reasonsFor({ proof, evidence, held }: PodFacts, { steer, repair }: Policy): readonly string[] {
  if (held !== undefined) return steer.mode === 'off' || held.nominated !== '' ? [] : ofHolds;
  if (evidence === undefined) return [];
  if (proof === 'failed') return repair.mode === 'off' ? [] : ofRepair;
  return proof === 'waiting' && !evidence.hasSandbox && hasWaitedLong(evidence, Date.now()) ? ofKubelets : [];
}

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

async function eventsOf(
  { client, signal }: ClusterReader,
  namespace: string,
  reason: string,
): Promise<ApiEvent[]> {
  const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const query = { fieldSelector: `reason=${reason}`, limit: mostEvents };
  const { items } = await client.request<{ items?: ApiEvent[] | null }>('GET', path, { query, signal });
  return items ?? [];
}
