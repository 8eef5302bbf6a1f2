import type { Required } from '../scheduling/required.ts';

/**
 * What the init container of a pod found out about its network, in the pod's current sandbox:
 * - `passed`: it ended with 0;
 * - `failed`: the network is not what it should be (exit code 95; for a network's own validator, the codes of its
 *   profile);
 * - `not-possible`: the proof could not be made (69), which says nothing about the network;
 * - `wrong-usage`: it was called wrongly (64);
 * - `crashed`: it ended in another way, such as out of memory;
 * - `waiting`: it has not ended yet.
 */
export type Verdict = (typeof verdicts)[number];

/** All verdicts, in the order of display. */
export const verdicts = ['passed', 'failed', 'not-possible', 'wrong-usage', 'crashed', 'waiting'] as const;

/** The controller of a pod: the owner that recreates it. */
export interface Controller {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

/** What a pod requires of a node, to find another one for it. */
export interface NodeRequired extends Required {
  /** The same for pods with the same requirements and profiles. */
  kind: string;
  /** Whether it has PersistentVolumeClaims. */
  hasVolumes: boolean;
}

/** The kept facts of a pod on a node that carries our label: some 400 bytes. */
export interface PodEvidence {
  uid: string;
  namespace: string;
  name: string;
  /** `metadata.resourceVersion`. */
  version: string;
  node: string;
  /** The profiles whose checks its init container makes. */
  profiles: readonly string[];
  /** With the verdict `failed`: those of {@link profiles} that failed, all of them if the pod does not tell. */
  failedProfiles: readonly string[];
  /** Identifies the owner: see `ownerKeyOf`. */
  owner: string;
  /** Of a failed pod, to recreate it; undefined for all other pods, and for a pod without a controller. */
  controller?: Controller | undefined;
  /** What a failed pod requires of a node; undefined for all other pods, and where it is too large to be kept. */
  required?: NodeRequired | undefined;
  /** The name of the Job from which repair released it, to delete it; undefined for all other pods. */
  releasedFrom?: string | undefined;
  /** Milliseconds since the epoch, as all times here. */
  createdAt: number;
  /** Whether it is being deleted. */
  leaving: boolean;
  /** Whether its phase is Succeeded or Failed. */
  ended: boolean;
  verdict: Verdict;
  /** It passed without an answer of the node. */
  wayNotShown?: true;
  /**
   * When the container ended with the verdict, by the node's clock: a container that fails again and again in one
   * sandbox keeps the time of its first failure seen. For `waiting`, since when the pod waits for what it waits for.
   * Undefined if the pod does not show it.
   */
  at: number | undefined;
  /** When the run with the verdict started, by the node's clock; undefined without a verdict. */
  startedAt: number | undefined;
  /** What a `waiting` pod waits for, as text; empty otherwise. */
  waitingFor: string;
  /** Its PodReadyToStartContainers condition: whether it has a sandbox; undefined where the kubelet does not say. */
  hasSandbox: boolean | undefined;
  /** Its addresses in each network, `address` or `network/address`; empty on the host network. */
  addresses: readonly string[];
}
