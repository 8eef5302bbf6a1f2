import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { isLost } from '../../core/facts/pod-evidence.ts';
import { clean } from '../../lib/clean.ts';
import { listBytes, texts } from '../../lib/limits.ts';
import { eventActions, eventReporter } from '../../lib/names.ts';
import { type Observation, observed } from './observation.ts';
import type { PodFacts } from './pods.ts';

/** The leader's last event about a pod that is held, has failed its proof or has lost its network. */
export interface PodEvent {
  /** Milliseconds since the epoch. */
  at: number;
  note: string;
  /** Whether the leader reports in this event that repair has stopped. */
  stopped: boolean;
}

/** Events are read from at most this many namespaces. */
const mostNamespaces = 10;
/** At most this many events are read from each namespace. */
const mostEvents = 500;

/** The fields that are read. */
interface ApiEvent {
  eventTime?: string | null;
  series?: { lastObservedTime?: string | null } | null;
  regarding?: { uid?: string } | null;
  reportingController?: string;
  action?: string;
  note?: string;
}

/**
 * The leader's last event about each pod, by the pod's UID.
 *
 * @param now milliseconds since the epoch
 * @throws ClusterError where the cluster does not answer
 */
export async function podEvents(
  client: ApiClient,
  pods: readonly PodFacts[],
  now: number,
): Promise<Observation<Map<string, PodEvent>>> {
  const asked = pods.filter(
    ({ held, proof, evidence }) => held || proof === 'failed' || (evidence && isLost(evidence, now)),
  );
  const namespaces = [...new Set(asked.map(({ namespace }) => namespace))].slice(0, mostNamespaces);
  const lists = namespaces.map((namespace) => {
    const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    const query = { fieldSelector: `reportingController=${eventReporter}`, limit: mostEvents };
    return client.request<{ items?: ApiEvent[] | null }>('GET', path, { query, maxBytes: listBytes });
  });
  const { found = [], unknown } = await observed(Promise.all(lists), 'events');
  if (unknown) return { unknown };
  const last = new Map<string, PodEvent>();
  const events = found.flatMap(({ items }) => items ?? []);
  for (const { regarding, action, note, series, eventTime } of events) {
    const at = Date.parse(series?.lastObservedTime ?? eventTime ?? '');
    const uid = regarding?.uid ?? '';
    if (!note || !(at >= (last.get(uid)?.at ?? 0))) continue;
    last.set(uid, { at, note: clean(note.slice(0, texts.quoted)), stopped: action === eventActions.stop });
  }
  return { found: last };
}
