import { nameOf } from '../../lib/names.ts';
import { isLater, type Moment } from './moment.ts';
import type { ProofRecord } from './proof-record.ts';

/** A pod that asks whether it may be bound to a node that has to be proved. */
export interface AskingPod {
  /** Identifies the pod; undefined for the one that would replace a failed pod. */
  key?: string;
  owner: string;
  /** Since when the gate has refused it, in milliseconds since the epoch; undefined where it has not. */
  heldSince?: number | undefined;
}

/** What decides besides the record of a node. Times are milliseconds since the epoch. */
export interface AssessInputs {
  /** When the latest container of the network's DaemonSets started on the node: earlier attempts do not count. */
  from: Moment;
  now: number;
  /** Undefined if no particular pod asks. */
  asking: AskingPod | undefined;
  /** Whether pods of an owner have passed on any node. */
  hasPassed: (owner: string) => boolean;
  /** Whether a pod of the asking pod's owner has passed on another node, where its next pod can go. */
  runsElsewhere: () => boolean;
}

export interface Assessment {
  /** What counts against the network, one text for each owner. */
  against: string[];
  /** Whether the asking pod may be bound to find out, as far as the record says. */
  mayProbe: boolean;
}

/** A pod without a verdict for longer does not make others wait. All of these are milliseconds. */
const longestVerdict = 30_000;
/** A sandbox that is not there after this time counts as a failure. Multus waits up to 45 s for its configuration. */
const longSandbox = 60_000;
/** The pause after an attempt that failed. */
const pause = 2000;
/** The pause for owners that give way: each waiting pod has asked by then, as kube-scheduler's longest pause is 11 s. */
const givesWay = 12_000;
/** The first pause of an owner after its own attempt. Each further one that fails doubles it, up to the longest. */
const ownPause = 4000;
const longestPause = 300_000;
/** The least wait of an owner with a pod that runs elsewhere, unless the scheduler found no other node. */
const leastElsewhere = 60_000;

/** Says what the record of a node means. Pure. @param isHolder whether the node is reserved for the asking pod */
export const assess = (record: ProofRecord, inputs: AssessInputs, isHolder: boolean): Assessment => ({
  against: against(record, inputs),
  // a pod with a reservation has waited for the pause
  mayProbe: !isTried(record, inputs.now) && (isHolder || isPauseOver(record, inputs)),
});

/** Whether a pod is on the way to find out whether the node works. */
const isTried = ({ waiting }: ProofRecord, now: number): boolean =>
  // a clock that was set back makes no pod wait
  [...waiting.values()].some(({ since }) => Math.abs(now - since) < longestVerdict);

/**
 * Whether the pause after the last attempt is over. A pod can fail for its own sake: an owner that never passed on any
 * node gives way after its failure here, or if one that has passed failed here.
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
  // repair knows better whether another node takes the pod
  if (asking.key === undefined || waited >= leastElsewhere) return true;
  return now - (asking.heldSince ?? now) >= givesWay || !runsElsewhere();
}

/** What counts against the network: owners whose pods failed, or have had no sandbox for long and since no pass. */
function against({ failures, waiting, passSeen }: ProofRecord, { from, now }: AssessInputs): string[] {
  const texts = new Map<string, string>();
  for (const [owner, { pod, started }] of failures) {
    if (!isLater(from, started)) texts.set(owner, `pod ${pod} failed`);
  }
  for (const { pod, since } of waiting.values()) {
    // a start in the future is of a clock that was set back since
    const waitsFrom = from.at > now ? since : Math.max(since, from.at);
    const isOverdue = pod.hasSandbox === false && now - waitsFrom >= longSandbox;
    if (isOverdue && since > passSeen && !texts.has(pod.owner)) {
      texts.set(pod.owner, `pod ${nameOf(pod)} has no sandbox`);
    }
  }
  return [...texts.values()];
}
