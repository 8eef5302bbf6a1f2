import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import { eventReasons, eventReporter } from '../../lib/names.ts';
import type { Nominated } from '../facts.ts';

/** So many namespaces are asked about, and so many events of each are read. */
const [mostNamespaces, mostEvents] = [10, 500];

/** What is read of an event. */
interface ApiEvent {
  eventTime?: string | null;
  regarding?: { uid?: string } | null;
  related?: { name?: string } | null;
  reportingController?: string;
}

/**
 * The last nomination of each pod in some namespaces, by the pod's UID, as the leader's events tell. The API server
 * keeps events for an hour by default.
 *
 * @throws ClusterError
 */
export async function lastNominations(
  client: ApiClient,
  namespaces: Iterable<string>,
  signal: AbortSignal,
): Promise<Map<string, Nominated>> {
  const query = { fieldSelector: `reason=${eventReasons.nominated}`, limit: mostEvents };
  const pages = await Promise.all(
    [...new Set(namespaces)].slice(0, mostNamespaces).map((namespace) => {
      const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      return client.request<{ items?: ApiEvent[] | null }>('GET', path, { query, signal });
    }),
  );
  const last = new Map<string, Nominated>();
  for (const { eventTime, regarding, related, reportingController } of pages.flatMap(
    ({ items }) => items ?? [],
  )) {
    const at = Date.parse(eventTime ?? '');
    const [uid, node] = [regarding?.uid, related?.name];
    if (reportingController !== eventReporter || !uid || !node || Number.isNaN(at)) continue;
    if (at >= (last.get(uid)?.at ?? 0)) last.set(uid, { node, at });
  }
  return last;
}
