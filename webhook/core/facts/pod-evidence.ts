import { nameCharacters } from '../../lib/limits.ts';
import type { Required } from '../scheduling/constraints.ts';
import type { ApiMeta } from './api.ts';

/**
 * What the init container of a pod found out about its network, in the pod's current sandbox:
 * - `passed`: it ended with 0;
 * - `failed`: the network is wrong (95, or the codes of a network's own validator);
 * - `not-possible`: the proof could not be made (69), which says nothing about the network;
 * - `wrong-usage`: it was called wrongly (64);
 * - `crashed`: it ended in another way, such as out of memory;
 * - `waiting`: it has not ended yet.
 */
export type Verdict = (typeof verdicts)[number];

/** In the order of display. */
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

/** A proof of a pod that passed: it counts once for its node, however often the pod shows it. */
export interface ShownPass {
  /** See `runOf`. */
  run: number;
  /** See {@link PodEvidence.sandboxSince}. */
  sandbox: number | undefined;
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
  leaving: boolean;
  /** Whether its phase is Succeeded or Failed. */
  ended: boolean;
  verdict: Verdict;
  /** Its proof did not pass, and the pod runs: warn mode. */
  warned?: true;
  /** It passed without an answer of the node. */
  wayNotShown?: true;
  /**
   * When the first run with the verdict in this sandbox ended, by the node's clock. For `waiting`, since when the pod
   * waits for what it waits for. Undefined if the pod does not show it.
   */
  at: number | undefined;
  /** When the run with the verdict started, by the node's clock; undefined without a verdict. */
  startedAt: number | undefined;
  /** The run with the verdict, by the end of its container's id; undefined if the pod does not show it. */
  run?: number | undefined;
  /** With the verdict `failed`: `metadata.resourceVersion` of the first known version that shows the failure. */
  failedVersion?: string;
  /** Its last proof that passed, remembered while it shows another verdict, or the pass of a later run. */
  passedBefore?: ShownPass;
  /** What a `waiting` pod waits for, as text; empty otherwise. */
  waitingFor: string;
  /** Its PodReadyToStartContainers condition: whether it has a sandbox; undefined where the kubelet does not say. */
  hasSandbox: boolean | undefined;
  /** Since when it has its sandbox, which identifies that; undefined if it has none, or the kubelet does not say. */
  sandboxSince?: number | undefined;
  /** Its addresses in each network, `address` or `network/address`; empty on the host network. */
  addresses: readonly string[];
}

/** The owner reference of a pod's controller; undefined where it has none, or one with a text that is too long to keep. */
export function controllerOf({ ownerReferences }: Pick<ApiMeta, 'ownerReferences'>): Controller | undefined {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  const isShort = [apiVersion, kind, name, uid].every(
    (value) => typeof value === 'string' && value.length <= nameCharacters,
  );
  return isShort ? { apiVersion, kind, name, uid } : undefined;
}

/**
 * Identifies the owner of a pod: its controller by namespace, apiVersion, kind and UID, or the pod itself where it has
 * none. The namespace counts, because the API server does not check owner references: a pod may name the UID of a
 * controller in another namespace. The key is JSON, so no text of one part can pass for two.
 */
export function ownerKeyOf(metadata: Pick<ApiMeta, 'uid' | 'namespace' | 'ownerReferences'>): string {
  const controller = controllerOf(metadata);
  return controller === undefined ? metadata.uid : ownerKey(metadata.namespace ?? '', controller);
}

export const ownerKey = (namespace: string, { apiVersion, kind, uid }: Controller): string =>
  JSON.stringify([namespace, apiVersion, kind, uid]);

/** Whether a key is that of a DaemonSet of Kubernetes: its pods cannot run on other nodes. */
export const isDaemonSet = (key: string): boolean => /^\["[^"]*","apps\/[^"]+","DaemonSet"/.test(key);
