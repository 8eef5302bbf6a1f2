import type { RepairSettings } from '../config/types.ts';
import type { PodEvidence } from '../evidence/facts.ts';
import type { Pausing } from '../steer/work.ts';

/** The part of the section `repair` of the configuration that a plan reads. */
export type Budgets = Readonly<
  Pick<RepairSettings, 'perNodePerMinute' | 'perOwnerPerMinute' | 'perMinute' | 'owners'>
>;

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

/** The kept pods of the cluster: a part of `EvidenceView`. */
export interface KnownPods {
  /** A pod by its UID. */
  pod(uid: string): PodEvidence | undefined;
  /** The pods of a controller, by `PodEvidence.owner`. */
  ownedBy(owner: string): Iterable<PodEvidence>;
}

/** What a plan is made from. */
export interface RepairSnapshot {
  /** The kept pods whose verdict is `failed`, such as {@link FailedPods}. Others are passed over. */
  failed: Iterable<PodEvidence>;
  /** Called once for each node and profile. */
  node: (node: string, profile: string) => NodeForProfile;
  /**
   * Whether another node is open to this pod and takes it, as far as is known. Not called for pods that cannot run
   * elsewhere.
   */
  elsewhere: (pod: PodEvidence) => boolean | Pausing<boolean>;
  budgets: Budgets;
  /** Called for each failed pod that is not recreated now, with few exceptions where there are thousands. */
  leftAlone?: (left: LeftAlone) => void;
}

/**
 * How a pod is recreated. `release-and-delete`: the labels by which its controller finds it are removed first, so that
 * the controller does not count its end as a failure.
 */
export type How = 'delete' | 'release-and-delete';

/** A pod to recreate. */
export interface Recreation {
  pod: PodEvidence;
  how: How;
  /** Why this helps, for people. */
  why: string;
  /** Whether it finds out if the network of its node works: no proof has passed there since the pod failed. */
  probes: boolean;
}

/** Why a failed pod is not recreated now. */
export type LeftAloneReason = (typeof leftAloneReasons)[number];

/**
 * All reasons, in the order in which they are looked at. The first group lasts as long as the pod or its node stays as
 * it is; the second ends by itself.
 */
export const leftAloneReasons = [
  /** It is being deleted. */
  'leaving',
  /** Its phase is Failed or Succeeded: its controller replaces it without help. */
  'ended',
  /** Its controller is its Node. */
  'static-pod',
  /** It has no controller, so nobody would recreate it. */
  'no-controller',
  /** Its controller is of a kind that is not known to recreate it. */
  'unknown-controller',
  /** Its node is gone or does not report. */
  'node-unreachable',
  /** Its node is not ready for it, and no other is. */
  'node-not-ready',
  /** It was recreated a moment ago, or could not be. */
  'under-way',
  /** Its node has to be proved first, and it is not its turn: another pod tries, or the pause after one that failed. */
  'node-to-prove',
  /** Recreated pods of its controller failed again: the next attempt follows after a pause. */
  'owner-pause',
  /** Pods of its controller are recreated one after the other, or a few first. */
  'owner-turn',
  /** Most recreated pods failed again: repair of its namespace, or all repair, has stopped. */
  'breaker',
  /** As many pods as a budget allows were recreated in the last minute. */
  'budget',
] as const;

/** A failed pod that is not recreated now. */
export interface LeftAlone {
  pod: PodEvidence;
  reason: LeftAloneReason;
  /** More about the reason, for people; often empty. */
  why: string;
}

/** How many more pods may be recreated now. */
export interface Room {
  count: number;
  /** Why there are no more. */
  reason: LeftAloneReason;
  /** When there will be more; undefined where that depends on something else than time. */
  again: number | undefined;
}

/** The result of planning. */
export interface RepairPlan {
  /** In the order in which they are to be made. */
  recreations: Recreation[];
  /**
   * When the first pause or budget that keeps a pod ends, by the clock of `now`; undefined where none does. What else
   * keeps pods ends with a change in the cluster.
   */
  again: number | undefined;
}
