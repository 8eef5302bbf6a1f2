import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { isLost, type PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { clean } from '../../lib/clean.ts';
import { listBytes, texts } from '../../lib/limits.ts';
import { eventActions, eventReasons, eventReporter } from '../../lib/names.ts';
import { observed } from './observation.ts';
import type { PodFacts } from './pods.ts';

/** The last event about a pod. */
export interface PodEvent {
  /** Milliseconds since the epoch. */
  at: number;
  reason: string;
  note: string;
  /** Whether the leader reports in this event that repair has stopped. */
  stopped: boolean;
}

const { recreated, wouldRecreate, notRecreated, nominated, notNominated } = eventReasons;

/** Reasons of the events that say what a pod waits for, or what was done about its failed proof. */
const reasons = {
  /** The kubelet's reasons for a pod that has no sandbox yet (pkg/kubelet/events/event.go). */
  waiting: ['FailedCreatePodSandBox', 'FailedMount', 'FailedAttachVolume'],
  /** The leader's reasons for a pod whose proof failed. */
  failed: [recreated, wouldRecreate, notRecreated],
  /** The leader's reasons for a held pod. */
  held: [nominated, notNominated],
};

/** Events are read from at most this many namespaces. */
const mostNamespaces = 10;
/** At most this many events of one reason are read from each namespace. */
const mostEvents = 500;

/** The fields that are read. Kubelets use the older API, whose times the newer API returns with `deprecated` names. */
interface ApiEvent {
  eventTime?: string | null;
  deprecatedLastTimestamp?: string | null;
  series?: { lastObservedTime?: string | null } | null;
  regarding?: { uid?: string } | null;
  reportingController?: string;
  reason?: string;
  action?: string;
  note?: string;
}

/**
 * The last event about each pod that is held, has waited long for a sandbox, has failed its proof or has lost its
 * network; keyed by the pod's UID. Empty if the right to list events is missing.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function podEvents(
  client: ApiClient,
  policy: Policy,
  pods: readonly PodFacts[],
): Promise<Map<string, PodEvent>> {
  const asked = new Map<string, Set<string>>();
  // the reasons of the events about each pod, by its UID
  const wanted = new Map<string, readonly string[]>();
  for (const pod of pods) {
    const kind = kindOf(pod, policy);
    if (kind === undefined) continue;
    wanted.set(pod.held?.uid ?? pod.evidence?.uid ?? '', reasons[kind]);
    asked.set(pod.namespace, new Set([...(asked.get(pod.namespace) ?? []), ...reasons[kind]]));
  }
  const lists = [...asked].slice(0, mostNamespaces).flatMap(([namespace, all]) =>
    Array.from(all, (reason) => {
      const path = apiPath`/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      const query = { fieldSelector: `reason=${reason}`, limit: mostEvents };
      const options = { query, maxBytes: listBytes };
      return observed(client.request<{ items?: ApiEvent[] | null }>('GET', path, options), 'events');
    }),
  );
  const last = new Map<string, PodEvent>();
  for (const event of (await Promise.all(lists)).flatMap(({ found }) => found?.items ?? [])) {
    const uid = event.regarding?.uid ?? '';
    const picked = pickEvent(event);
    if (picked && wanted.get(uid)?.includes(picked.reason) && picked.at >= (last.get(uid)?.at ?? 0))
      last.set(uid, picked);
  }
  return last;
}

/** How long, in milliseconds, a pod may wait on its node (for a large image) before a status reports the pod. */
const reportedAfter = 60_000;

/** Whether a pod has been on its node for long without a verdict. @param now milliseconds since the epoch */
export const hasWaitedLong = (
  { verdict, leaving, ended, at, createdAt }: PodEvidence,
  now: number,
): boolean => verdict === 'waiting' && !leaving && !ended && now - (at ?? createdAt) >= reportedAfter;

/** Which kind of events to read about this pod; undefined if none. */
function kindOf({ proof, evidence, held }: PodFacts, policy: Policy): keyof typeof reasons | undefined {
  if (held !== undefined) return policy.steer.mode === 'off' || held.nominated !== '' ? undefined : 'held';
  if (evidence === undefined) return undefined;
  if (proof === 'failed' || isLost(evidence, Date.now()))
    return policy.repair.mode === 'off' ? undefined : 'failed';
  return !evidence.hasSandbox && hasWaitedLong(evidence, Date.now()) ? 'waiting' : undefined;
}

/** Undefined for an event without a note or time, and for one with a leader's reason that another client wrote. */
function pickEvent(event: ApiEvent): PodEvent | undefined {
  const { reason = '', action, note, reportingController } = event;
  const isOurs = !reasons.waiting.includes(reason);
  const time = event.series?.lastObservedTime ?? event.deprecatedLastTimestamp ?? event.eventTime;
  const at = Date.parse(time ?? '');
  if (!note || Number.isNaN(at) || (isOurs && reportingController !== eventReporter)) return undefined;
  const stopped = isOurs && action === eventActions.stop;
  return { at, reason, note: clean(note.slice(0, texts.quoted)), stopped };
}
