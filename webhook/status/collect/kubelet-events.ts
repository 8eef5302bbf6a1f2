import { apiPath } from '../../kubernetes/api-path.ts';
import { clean } from '../../lib/clean.ts';
import { texts } from '../../lib/limits.ts';
import { podsWaiting } from '../evidence.ts';
import type { StatusFacts } from '../facts.ts';
import { type ClusterReader, ifAllowed } from './reader.ts';

/** Reasons of a kubelet's events on a pod that has no sandbox (pkg/kubelet/events/event.go). */
const reasons = ['FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'];

/** So many namespaces are asked about, and so many events of each are read. */
const [mostNamespaces, mostEvents] = [10, 500];

/** What is read of an event. A kubelet writes events of the older API, whose times appear under these names. */
interface ApiEvent {
  eventTime?: string | null;
  deprecatedLastTimestamp?: string | null;
  series?: { lastObservedTime?: string | null } | null;
  regarding?: { uid?: string } | null;
  note?: string;
}

/**
 * What kubelets last said about pods that have waited for a sandbox for long, by the pod's UID. Nothing is asked where
 * no pod does, and nothing is known without the right to list events.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function kubeletEvents(
  reader: ClusterReader,
  { pods }: Pick<StatusFacts, 'pods'>,
): Promise<Map<string, string>> {
  const waiting = podsWaiting(pods, Date.now()).filter(({ hasSandbox }) => hasSandbox === false);
  const uids = new Set(waiting.map(({ uid }) => uid));
  const namespaces = [...new Set(waiting.map(({ namespace }) => namespace))].slice(0, mostNamespaces);
  const asked = namespaces.flatMap((namespace) => reasons.map((reason) => ({ namespace, reason })));
  const pages = await Promise.all(asked.map((one) => ifAllowed(eventsOf(reader, one))));
  const last = new Map<string, { at: number; note: string }>();
  for (const { regarding, note, ...times } of pages.flatMap((items) => items ?? [])) {
    const uid = regarding?.uid ?? '';
    const at = Date.parse(
      times.series?.lastObservedTime ?? times.deprecatedLastTimestamp ?? times.eventTime ?? '',
    );
    if (!uids.has(uid) || !note || Number.isNaN(at) || at < (last.get(uid)?.at ?? 0)) continue;
    last.set(uid, { at, note: clean(note.slice(0, texts.quoted)) });
  }
  return new Map(Array.from(last, ([uid, { note }]) => [uid, note]));
}

async function eventsOf(
  { client, signal }: ClusterReader,
  { namespace, reason }: { namespace: string; reason: string },
): Promise<ApiEvent[]> {
  const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const query = { fieldSelector: `reason=${reason}`, limit: mostEvents };
  const { items } = await client.request<{ items?: ApiEvent[] | null }>('GET', path, { query, signal });
  return items ?? [];
}
