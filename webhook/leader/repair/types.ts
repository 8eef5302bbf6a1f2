import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { Moment } from '../../core/networks/moment.ts';

export interface NodeForProfile {
  /**
   * - `open`: the gate allows a new pod of the profile, and the node is schedulable;
   * - `unproved`: the DaemonSets are ready, but the gate allows only one pod at a time, because no proof has passed or
   *   proofs fail;
   * - `closed`: a DaemonSet is not ready, or the node is cordoned;
   * - `unreachable`: the node is gone, or its kubelet does not report.
   */
  state: 'open' | 'unproved' | 'closed' | 'unreachable';
  /** Why the node has this state, for people; empty for `open`. */
  why: string;
  /** Whether the gate would allow the replacement of the failed pod on the node now. */
  turn: boolean;
  /** When a proof last passed on the node, after the node's boot and the start of the DaemonSets' containers. */
  passedAt: Moment | undefined;
}

/**
 * `release-and-delete`: the labels by which a Job finds its pod are removed first, so that the Job does not count the
 * pod's end as a failure.
 */
export type DeletionMethod = 'delete' | 'release-and-delete';

export interface Recreation {
  pod: PodEvidence;
  how: DeletionMethod;
  /** Why the pod is recreated, for people. */
  why: string;
  /** Set if the gate keeps new pods off the node, or allows only one pod at a time there. */
  moves?: true;
}

const look = 'look at what the proofs saw: "cni-gate status"';

/** For people: why a failed pod is not recreated now, and what to do. Reasons from `under-way` on end by themselves. */
export const skipTexts = {
  leaving: 'it is being deleted',
  ended:
    'it has ended, so only its controller can replace it. A Job counts it as failed, unless its podFailurePolicy ignores exit code 95 (and 255, with which a loss of power ends a pod)',
  'warn-mode': 'it was created while proof.mode was warn, and runs: recreate it',
  'static-pod':
    'it is a static pod, which only the kubelet can make again: move its manifest out of the folder of static pods on the node, and back',
  'no-controller': 'it has no controller that would recreate it: delete it and create it again',
  'unknown-controller':
    'its controller is of a kind that is not known to recreate it: delete it, or name the kind in repair.owners',
  'node-unreachable': 'its node does not report: look at the node',
  'node-not-ready':
    'its node is not ready for it, and no other node is: look at the DaemonSet of its network',
  'under-way':
    'it could not be deleted, or its deletion has not happened yet, and it is tried again: the log of the leader says more',
  breaker: `recreated pods of most controllers failed again, so repair stops for five minutes, and then tries single pods: ${look}`,
  'owner-pause': `pods of its controller that were recreated failed again, and the next one follows after a pause: ${look}, or delete the pod`,
  'owner-turn': `pods of its controller are recreated one after the other, or one first: if that takes long, ${look}`,
  'node-to-prove': `another pod is tested on its node first: if that takes long, ${look}`,
  budget:
    'as many pods are recreated as repair.perMinute, perNodePerMinute or perOwnerPerMinute allow, and it follows: wait, or delete the pod',
};

export type SkipReason = keyof typeof skipTexts;

export const skipReasons = Object.keys(skipTexts) as SkipReason[];

export interface Skipped {
  reason: SkipReason;
  why?: string;
}

export interface SkippedPod extends Skipped {
  pod: PodEvidence;
}
