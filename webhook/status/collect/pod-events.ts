import { apiPath } from '../../kubernetes/api-path.ts';
import { clean } from '../../lib/clean.ts';
import { texts } from '../../lib/limits.ts';
import { eventReasons, eventReporter } from '../../lib/names.ts';
import { nodeOfNote } from '../../repair/notices.ts';
import { podsWaiting } from '../evidence.ts';
import type { PodEvent, RepairEvent, StatusFacts } from '../facts.ts';
import { type ClusterReader, ifAllowed } from './reader.ts';

/** Reasons of a kubelet's events on a pod that has no sandbox (pkg/kubelet/events/event.go). */
const ofKubelets = ['FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'];

/** Reasons of the leader's events on a pod whose proof failed. */
const ofRepair: string[] = [eventReasons.recreated, eventReasons.wouldRecreate, eventReasons.notRecreated];

/** So many namespaces are asked about, and so many events of each are read. */
const [mostNamespaces, mostEvents] = [10, 500];

/** What is read of an event. A kubelet writes events of the older API, whose times appear under these names. */
interface ApiEvent {
  metadata?: { name?: string } | null;
  eventTime?: string | null;
  deprecatedLastTimestamp?: string | null;
  series?: { lastObservedTime?: string | null } | null;
  regarding?: { uid?: string; kind?: string; namespace?: string; name?: string } | null;
  reportingController?: string;
  reason?: string;
  note?: string;
}

/**
 * What kubelets last said about pods that have waited for a sandbox for long, and the leader about pods whose proof
 * failed, by the pod's UID. Nothing is asked where there is no such pod, and nothing is known without the right to list
 * events.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function podEvents(
  reader: ClusterReader,
  { pods }: Pick<StatusFacts, 'pods'>,
): Promise<Map<string, PodEvent>> {
  const all = [...pods];
  const waiting = podsWaiting(all, Date.now()).filter(({ hasSandbox }) => hasSandbox === false);
  const failed = all.flatMap(({ proof, evidence }) => (proof === 'failed' && evidence ? evidence : []));
  const uids = new Set([...waiting, ...failed].map(({ uid }) => uid));
  const asked = [...questions(waiting, ofKubelets), ...questions(failed, ofRepair)];
  const pages = await Promise.all(asked.map((one) => ifAllowed(eventsOf(reader, one))));
  const last = new Map<string, { at: number; event: PodEvent }>();
  for (const { metadata, regarding, note, ...event } of pages.flatMap((items) => items ?? [])) {
    const uid = regarding?.uid ?? '';
    const { reportingController, reason = '' } = event;
    const at = timeOf(event);
    const isOurs = ofRepair.includes(reason);
    if (isOurs && reportingController !== eventReporter) continue;
    if (!uids.has(uid) || !note || Number.isNaN(at) || at < (last.get(uid)?.at ?? 0)) continue;
    // the last part of the name is why the pod is left alone
    const stopped = isOurs && metadata?.name?.endsWith('.breaker') === true;
    const audited = reason === eventReasons.wouldRecreate && { audited: true };
    last.set(uid, { at, event: { note: clean(note.slice(0, texts.quoted)), stopped, ...audited } });
  }
  return new Map(Array.from(last, ([uid, { event }]) => [uid, event]));
}

/**
 * The recreations of pods that the leader told of, the oldest first, as long as the cluster keeps the events: an hour by
 * default. None without the right to list events.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function repairEvents(
  reader: ClusterReader,
  namespaces: Iterable<{ name: string }>,
): Promise<RepairEvent[]> {
  const asked = Array.from(namespaces, ({ name }) => ({ namespace: name }));
  const pages = await Promise.all(
    questions(asked, [eventReasons.recreated]).map((one) => ifAllowed(eventsOf(reader, one))),
  );
  return pages
    .flatMap((items) => items ?? [])
    .flatMap(({ regarding, note, reportingController, ...event }): RepairEvent[] => {
      const { kind, namespace, name } = regarding ?? {};
      const at = timeOf(event);
      if (reportingController !== eventReporter || kind !== 'Pod' || Number.isNaN(at)) return [];
      if (!namespace || !name || !note) return [];
      const node = nodeOfNote(note);
      return [{ namespace, name, node, at, note: clean(note.slice(0, texts.quoted)) }];
    })
    .sort((one, other) => one.at - other.at);
}

const timeOf = ({
  series,
  deprecatedLastTimestamp,
  eventTime,
}: Pick<ApiEvent, 'series' | 'deprecatedLastTimestamp' | 'eventTime'>): number =>
  Date.parse(series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? '');

const questions = (
  pods: readonly { namespace: string }[],
  reasons: readonly string[],
): { namespace: string; reason: string }[] =>
  [...new Set(pods.map(({ namespace }) => namespace))]
    .slice(0, mostNamespaces)
    .flatMap((namespace) => reasons.map((reason) => ({ namespace, reason })));

async function eventsOf(
  { client, signal }: ClusterReader,
  { namespace, reason }: { namespace: string; reason: string },
): Promise<ApiEvent[]> {
  const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const query = { fieldSelector: `reason=${reason}`, limit: mostEvents };
  const { items } = await client.request<{ items?: ApiEvent[] | null }>('GET', path, { query, signal });
  return items ?? [];
}
