import type { Policy } from '../config/policy.ts';
import { aboutPod, fitNote, type Notice } from '../events/notice.ts';
import type { PodEvidence } from '../evidence/facts.ts';
import { eventReasons } from '../lib/names.ts';
import { timeText } from '../lib/time-text.ts';
import type { Readiness } from '../readiness/readiness.ts';

/** How long a pod may wait for its sandbox, in milliseconds. Multus alone waits up to 45 s for its configuration. */
export const long = 60_000;

/** The pause after an event that could not be written, in milliseconds. */
const pause = 60_000;

/** What is known of the cluster. */
export interface WaitView {
  policy: Pick<Policy, 'profiles' | 'gate'>;
  readiness: Pick<Readiness, 'status'>;
}

/**
 * Whether a pod has waited for its sandbox for long: mostly for an address. Nothing of it runs, so nothing failed.
 *
 * @param now milliseconds since the epoch
 */
export const lacksSandbox = (pod: PodEvidence, now: number): boolean =>
  pod.verdict === 'waiting' &&
  pod.hasSandbox === false &&
  !pod.ended &&
  !pod.leaving &&
  now - sinceOf(pod) >= long;

const sinceOf = ({ at, createdAt }: PodEvidence): number => at ?? createdAt;

/**
 * Which pods need an event because they have no sandbox for long: one for each wait. Pure: times are arguments, in
 * milliseconds since the epoch.
 */
export class LongWaits {
  /** By UID: since when the pod waits, and when the event may be written again. */
  readonly #reported = new Map<string, { since: number; again: number }>();

  /**
   * The notices to write now. They count as written unless {@link failed} is called.
   *
   * @param max the largest number of notices
   */
  due(pods: Iterable<PodEvidence>, view: WaitView, now: number, max: number): Notice[] {
    const left = new Set(this.#reported.keys());
    const due: Notice[] = [];
    for (const pod of pods) {
      if (!lacksSandbox(pod, now)) continue;
      left.delete(pod.uid);
      const since = sinceOf(pod);
      const before = this.#reported.get(pod.uid);
      const isReported = before?.since === since && now < before.again;
      if (isReported || due.length >= max) continue;
      this.#reported.set(pod.uid, { since, again: Number.POSITIVE_INFINITY });
      due.push(waitNotice(pod, since, view, now));
    }
    for (const uid of left) this.#reported.delete(uid);
    return due;
  }

  /** A notice could not be written. */
  failed({ regarding: { uid } }: Notice, now: number): void {
    const reported = this.#reported.get(uid);
    if (reported !== undefined) reported.again = now + pause;
  }
}

/** The event that says who can give the pod its network. */
function waitNotice(pod: PodEvidence, since: number, { policy, readiness }: WaitView, now: number): Notice {
  const { node, profiles } = pod;
  const named = profiles.flatMap((profile) => policy.profiles.get(profile)?.daemonSets ?? []);
  const unique = new Map(named.map((one) => [`${one.namespace}/${one.name}`, one]));
  const places = Array.from(unique.values(), (daemonSet) => {
    const status = readiness.status(daemonSet, node, now, policy.gate.startupGrace);
    const { namespace, name } = daemonSet;
    if (status === undefined) return `DaemonSet ${namespace}/${name} (not known)`;
    const where = status.pod === undefined ? '' : `, pod ${status.pod}`;
    return `DaemonSet ${namespace}/${name} (${status.state}${where})`;
  });
  const look = places.length === 0 ? '' : ` Look at the log of ${places.join(' and ')}.`;
  return {
    regarding: aboutPod(pod),
    type: 'Warning',
    reason: eventReasons.waitingForSandbox,
    action: 'Wait',
    // from the cluster, so that the next leader uses the same name
    occasion: String(since),
    node,
    note: fitNote(
      `no sandbox on node ${node} since ${timeText(since)}: the network has no address for the pod or is not ready, or a volume cannot be mounted. The event FailedCreatePodSandBox or FailedMount of the kubelet says which.${look}`,
      ' The kubelet tries again; recreating the pod does not help',
    ),
  };
}
