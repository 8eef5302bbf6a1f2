import type { PodEvidence } from '../../nodes/evidence/facts.ts';

/** What is known of one profile's network on a node. */
export interface NodeForProfile {
  /**
   * Whether a new pod of the profile gets there:
   * - `open`: the gate allows it, and the node is schedulable;
   * - `unproved`: the DaemonSets are ready, and the gate lets one pod at a time through, as no proof has passed yet or
   *   proofs fail there;
   * - `closed`: the gate refuses it because a DaemonSet is not ready, or the node is cordoned;
   * - `unreachable`: the node is gone, or its kubelet does not report.
   */
  state: 'open' | 'unproved' | 'closed' | 'unreachable';
  /** Why it is not open, for people; empty where it is. */
  why: string;
  /** Whether the gate would let a pod through now, of an owner that has not failed there. Always, where it is `open`. */
  turn: boolean;
  /**
   * When a proof of the profile last passed there, by the node's clock, in milliseconds since the epoch. Only proofs
   * count that were made since the node booted and since the DaemonSets' pods got their containers.
   */
  passedAt: number | undefined;
}

/**
 * How a pod is recreated. `release-and-delete`: the labels by which its controller finds it are removed first, so that
 * the controller does not count its end as a failure.
 */
export type DeletionMethod = 'delete' | 'release-and-delete';

/** A pod to recreate. */
export interface Recreation {
  pod: PodEvidence;
  how: DeletionMethod;
  /** Why this helps, for people. */
  why: string;
}

/** Why a failed pod is not recreated now. */
export type SkipReason = (typeof skipReasons)[number];

/**
 * All reasons, in the order in which they are looked at. The first group lasts as long as the pod or its node stays as
 * it is; the second ends by itself.
 */
export const skipReasons = [
  /** It is being deleted. */
  'leaving',
  /** Its phase is Failed or Succeeded: its controller replaces it without help. */
  'ended',
  /** Its controller is its Node. */
  'static-pod',
  /** It has no controller that would recreate it. */
  'no-controller',
  /** Its controller is of a kind that is not known to recreate it. */
  'unknown-controller',
  /** Its node is gone or does not report. */
  'node-unreachable',
  /** Its node is not ready for it, and no other is. */
  'node-not-ready',
  /** It could not be deleted, and is tried again; in audit, it was reported. */
  'under-way',
  /** Most recreated pods failed again: all repair has stopped. */
  'breaker',
  /** Recreated pods of its controller failed again: the next attempt follows after a pause. */
  'owner-pause',
  /** Pods of its controller are recreated one after the other, or one first. */
  'owner-turn',
  /** Its node has to be proved first, and it is not its turn: another pod tries, or the pause after one that failed. */
  'node-to-prove',
  /** As many pods as a budget allows were recreated. */
  'budget',
] as const;

/** Why a failed pod is left alone. */
export interface Skipped {
  reason: SkipReason;
  /** More about the reason, for people; often empty. */
  why: string;
}

/** A failed pod that is not recreated now. */
export interface SkippedPod extends Skipped {
  pod: PodEvidence;
}
