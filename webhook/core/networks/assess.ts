import { nameOf } from '../../lib/names.ts';
import { isLater, type Moment } from './moment.ts';
import type { ProofRecord } from './proof-record.ts';

/** A pod that is to be bound to a node where a network has to be proved. */
export interface AskingPod {
  /** Identifies the pod; undefined for a pod that would be created in place of a failed one. */
  key?: string;
  owner: string;
  /** Since when the gate has refused the pod, in milliseconds since the epoch; undefined if it has not refused it. */
  heldSince?: number | undefined;
}

/** The inputs of {@link assess} besides the record of a node. Times are milliseconds since the epoch. */
export interface AssessInputs {
  /** When a container of the network's DaemonSets last started on the node. Earlier attempts do not count. */
  from: Moment;
  now: number;
  /** The pod that is to be bound; undefined if the question is about no particular pod. */
  asking: AskingPod | undefined;
  /** Whether a pod of this owner has passed its proof on any node. */
  hasPassed: (owner: string) => boolean;
  /** Whether a pod of the asking pod's owner has passed on another node, to which the owner's next pod can go. */
  runsElsewhere: () => boolean;
}

export interface Assessment {
  /** What counts against the network, one text for each owner. */
  against: string[];
  /** Whether the record allows the asking pod to be bound in order to try the network. */
  mayProbe: boolean;
}

/** A pod that has had no verdict for longer than this makes no other pod wait. All these constants are milliseconds. */
const longestVerdict = 30_000;
/** A pod without a sandbox after this time counts as failed. Multus waits up to 45 s for its configuration. */
const longSandbox = 60_000;
/** The pause after a failed attempt. */
const pause = 2000;
/** The pause for owners that let others try first. kube-scheduler retries each pod within 11 s, its longest pause. */
const givesWay = 12_000;
/** An owner's pause after its first failed attempt. Each further failed attempt doubles it, up to the longest. */
const ownPause = 4000;
const longestPause = 300_000;
/** The shortest wait of an owner that has a pod running elsewhere, unless the scheduler found no other node. */
const leastElsewhere = 60_000;

/** Judges the record of a node. Pure. @param isHolder whether the node is reserved for the asking pod */
export const assess = (record: ProofRecord, inputs: AssessInputs, isHolder: boolean): Assessment => ({
  against: against(record, inputs),
  // a pod with a reservation has already waited for the pause
  mayProbe: !isTried(record, inputs.now) && (isHolder || isPauseOver(record, inputs)),
});

/** Whether a pod without a verdict is trying the network on the node at the moment. */
const isTried = ({ waiting }: ProofRecord, now: number): boolean =>
  // the absolute value, so that a clock that was set back makes no pod wait
  [...waiting.values()].some(({ since }) => Math.abs(now - since) < longestVerdict);

/**
 * Whether the pause after the last failed attempt is over. A pod can fail for a reason of its own. So an owner that
 * never passed on any node waits longer if it failed here, or if an owner that has passed elsewhere failed here.
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
  // repair, whose pods have no key here, decides itself whether another node can take the pod
  if (asking.key === undefined || waited >= leastElsewhere) return true;
  return now - (asking.heldSince ?? now) >= givesWay || !runsElsewhere();
}

/** Texts about the owners whose pods failed, or began to wait for a sandbox after the last pass and still have none. */
function against({ failures, waiting, passSeen }: ProofRecord, { from, now }: AssessInputs): string[] {
  const texts = new Map<string, string>();
  for (const [owner, { pod, started }] of failures) {
    if (!isLater(from, started)) texts.set(owner, `pod ${pod} failed`);
  }
  for (const { pod, since } of waiting.values()) {
    // a start in the future comes from a clock that was set back later
    const waitsFrom = from.at > now ? since : Math.max(since, from.at);
    const isOverdue = pod.hasSandbox === false && now - waitsFrom >= longSandbox;
    if (isOverdue && since > passSeen && !texts.has(pod.owner)) {
      texts.set(pod.owner, `pod ${nameOf(pod)} has no sandbox`);
    }
  }
  return [...texts.values()];
}
