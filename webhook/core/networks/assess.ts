import { nameOf } from '../../lib/names.ts';
import { isLost } from '../facts/pod-evidence.ts';
import { isLater, type Moment } from './moment.ts';
import type { ProofRecord } from './proof-record.ts';

/** A pod that is about to be bound to a node where a network needs a proof. */
export interface AskingPod {
  /** Identifies the pod; undefined if the pod does not exist yet, because it would replace a failed pod. */
  key?: string;
  owner: string;
  /** Since when the gate has refused the pod, in milliseconds since the epoch; undefined if it has not refused it. */
  heldSince?: number | undefined;
}

/** What {@link assess} needs besides the record of a node. Times are in milliseconds since the epoch. */
export interface AssessInputs {
  /** When a container of the network's DaemonSets last started on the node. Attempts before that do not count. */
  from: Moment;
  now: number;
  /** The pod that is to be bound; undefined if the result is not for a particular pod. */
  asking: AskingPod | undefined;
  /** Whether a pod of this owner has passed its proof on any node. */
  hasPassed: (owner: string) => boolean;
  /** Whether a pod of the same owner has passed on another node, where the owner's next pod can run. */
  runsElsewhere: () => boolean;
}

export interface Assessment {
  /** What counts against the network, one text for each owner. */
  against: string[];
  /** Whether the asking pod may be bound now, as a probe of the network. */
  mayProbe: boolean;
}

/** A pod without a verdict for longer than this, in milliseconds like all times here, blocks no other pod's probe. */
const longestVerdict = 30_000;
/** A pod without a sandbox after this time counts as failed. Multus waits for its configuration for up to 45 s. */
const longSandbox = 60_000;
/** The pause between a failed attempt and the next. */
const pause = 2000;
/** The longer pause of owners that let others try first; kube-scheduler retries a pod after at most 11 s. */
const givesWay = 12_000;
/** An owner's pause after its own first failed attempt. It doubles with each further failure, up to the longest. */
const ownPause = 4000;
const longestPause = 300_000;
/** How long an owner whose pods run elsewhere must wait, unless the gate has held its pod for `givesWay`. */
const leastElsewhere = 60_000;

/** Judges the record of a node. Pure. @param isHolder whether the node is reserved for the asking pod */
export const assess = (record: ProofRecord, inputs: AssessInputs, isHolder: boolean): Assessment => ({
  against: against(record, inputs),
  // a pod that holds the reservation has waited already
  mayProbe: !isTried(record, inputs.now) && (isHolder || isPauseOver(record, inputs)),
});

/** Whether another pod is currently probing the network on the node, and has no verdict yet. */
const isTried = ({ waiting }: ProofRecord, now: number): boolean =>
  // the absolute value, so that a clock that was set back makes no pod wait
  [...waiting.values()].some(({ since }) => Math.abs(now - since) < longestVerdict);

/**
 * Whether the pause after the last failed attempt is over. The pod itself may be the cause of a failure, so an owner
 * that never passed on any node waits longer if it failed here, or if an owner that has passed elsewhere failed here.
 */
function isPauseOver({ lastFailed, failures }: ProofRecord, inputs: AssessInputs): boolean {
  const { from, now, asking, hasPassed, runsElsewhere } = inputs;
  if (lastFailed === undefined || isLater(from, lastFailed.started) || lastFailed.seen > now) return true;
  const since = now - lastFailed.seen;
  if (asking === undefined) return since >= pause;
  const failure = failures.get(asking.owner);
  const isSuspect =
    !hasPassed(asking.owner) && (failure !== undefined || [...failures.keys()].some(hasPassed));
  if (since < (isSuspect ? givesWay : pause)) return false;
  if (failure === undefined || isLater(from, failure.started)) return true;
  const own = Math.min(longestPause, ownPause * 2 ** (failure.attempts - 1));
  const waited = now - failure.seen;
  if (waited < own) return false;
  // repair, which gives no key, decides itself whether the pod can move to another node
  if (asking.key === undefined || waited >= leastElsewhere) return true;
  return now - (asking.heldSince ?? now) >= givesWay || !runsElsewhere();
}

/** A text for each owner with a pod that failed, lost its network or has lacked a sandbox too long since the last pass. */
function against(
  { failures, waiting, unready, passSeen }: ProofRecord,
  { from, now }: AssessInputs,
): string[] {
  const texts = new Map<string, string>();
  for (const [owner, { pod, started }] of failures) {
    if (!isLater(from, started)) texts.set(owner, `pod ${pod} failed`);
  }
  for (const pod of unready.values()) {
    const { owner, unready: loss } = pod;
    const counts = loss && isLost(pod, now) && loss.at > passSeen && !isLater(from, loss);
    if (counts && !texts.has(owner)) texts.set(owner, `pod ${nameOf(pod)} lost its network`);
  }
  for (const { pod, since } of waiting.values()) {
    // if the DaemonSet's start is in the future, the clock was set back after it
    const waitsFrom = from.at > now ? since : Math.max(since, from.at);
    const isOverdue = pod.hasSandbox === false && now - waitsFrom >= longSandbox;
    if (isOverdue && since > passSeen && !texts.has(pod.owner)) {
      texts.set(pod.owner, `pod ${nameOf(pod)} has no sandbox`);
    }
  }
  return [...texts.values()];
}
