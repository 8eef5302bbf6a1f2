import { nameCharacters } from '../../lib/limits.ts';
import type { Required } from '../scheduling/constraints.ts';
import type { ApiMeta } from './api.ts';

/**
 * The result of a pod's init container `cni-gate-validator` in the pod's current sandbox:
 * - `passed`: all checks passed (exit code 0);
 * - `failed`: a check failed (exit code 95, or a failure code of a network's own validator);
 * - `not-possible`: the proof could not run (exit code 69), which shows nothing about the network;
 * - `wrong-usage`: the program was called with wrong arguments or variables (exit code 64);
 * - `crashed`: the container ended in another way, such as by running out of memory;
 * - `waiting`: the container has not ended yet;
 * - `lost`: the proof passed, but later rechecks failed. Only {@link verdictAt} returns this verdict.
 */
export type Verdict = (typeof verdicts)[number];

/** All verdicts, in the order of display. */
export const verdicts = [
  'passed',
  'failed',
  'not-possible',
  'wrong-usage',
  'crashed',
  'waiting',
  'lost',
] as const;

/** The controller of a pod: the owner that recreates it. */
export interface Controller {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

/** What a failed or unready pod requires of a node, for finding another node for the pod's replacement. */
export interface NodeRequired extends Required {
  /** A text that is the same for all pods with the same requirements and profiles. */
  kind: string;
  /** Whether the pod has PersistentVolumeClaims. */
  hasVolumes: boolean;
}

/** A proof that passed. The run identifies the proof, so that each proof counts once for the pod's node. */
export interface ShownPass {
  /** Identifies the run of the init container: see `runOf` in `history.ts`. */
  run: number;
  /** Identifies the sandbox: see {@link PodEvidence.sandboxSince}. */
  sandbox: number | undefined;
}

/**
 * Our container, if it is not ready although its proof passed in this sandbox (`proof.continuous`). The
 * fields `at`, `after` and `shownBy` form a `Moment`.
 */
export interface Unready {
  /** Identifies the container's run; undefined until the kubelet reports the run as `started`. */
  run: number | undefined;
  /** When a watch showed the unready container; for a pod from a list, the earliest time that its status allows. */
  at: number;
  after?: string;
  shownBy: string;
  /** After how many milliseconds the network counts as lost: a restarted container is not ready immediately. */
  patience: number;
}

/** The facts kept about a pod that is on a node and has the label `cni-gate.io/profile`: about 400 bytes. */
export interface PodEvidence {
  uid: string;
  namespace: string;
  name: string;
  /** `metadata.resourceVersion`. */
  version: string;
  node: string;
  /** The profiles whose checks the pod's init container runs. */
  profiles: readonly string[];
  /** The {@link profiles} that failed; all if the pod is {@link unready} or its status shows no names. */
  failedProfiles: readonly string[];
  /** Identifies the owner: see `ownerKeyOf`. */
  owner: string;
  /** The controller of a failed or unready pod, for repair; undefined for other pods, and if there is no controller. */
  controller?: Controller | undefined;
  /** What a failed or unready pod requires of a node; undefined for other pods, and if too large to keep. */
  required?: NodeRequired | undefined;
  /** The Job from which repair released the pod in order to delete it; undefined if the pod was not released. */
  releasedFrom?: string | undefined;
  /** Milliseconds since the epoch, like all times in this file. */
  createdAt: number;
  leaving: boolean;
  /** Whether the pod's phase is Succeeded or Failed. */
  ended: boolean;
  verdict: Verdict;
  /** Set if the proof did not pass, but the pod runs because `proof.mode` is `warn`. */
  warned?: true;
  /** Set if the proof passed although the node did not answer (check `roundTrip` with `mode: prefer`). */
  wayNotShown?: true;
  /** Set if the pod passed, but our container is not ready; absent if the pod is being deleted or has ended. */
  unready?: Unready;
  /**
   * When the first run with the verdict in this sandbox ended, by the node's clock. For the verdict `waiting`: since
   * when the pod has waited for what {@link waitingFor} names. Undefined if the pod's status does not show the time.
   */
  at: number | undefined;
  /** When the run with the verdict started, by the node's clock; undefined without a verdict. */
  startedAt: number | undefined;
  /** Identifies the run with the verdict, by the last digits of its container's id; undefined if unknown. */
  run?: number | undefined;
  /** If the verdict is `failed`: the resourceVersion of the first known version of the pod that shows this failure. */
  failedVersion?: string;
  /** The pod's last proof that passed, kept even if the pod's status no longer shows it. */
  passedBefore?: ShownPass;
  /** What a pod with the verdict `waiting` waits for, for messages; empty for all other verdicts. */
  waitingFor: string;
  /** Whether the pod has a sandbox, by its condition PodReadyToStartContainers; undefined without the condition. */
  hasSandbox: boolean | undefined;
  /** When the pod got its sandbox. The time identifies the sandbox; undefined if no condition shows one. */
  sandboxSince?: number | undefined;
  /** The pod's addresses, as `address` or `network/address` (see `addressesOf`); empty on the host network. */
  addresses: readonly string[];
}

/**
 * Whether the pod's network is lost.
 * @param now milliseconds since the epoch
 * @param least the minimum duration of the loss in milliseconds
 */
export const isLost = ({ unready }: Pick<PodEvidence, 'unready'>, now: number, least = 0): boolean =>
  unready?.run !== undefined && now - unready.at >= Math.max(unready.patience, least);

/** The pod's verdict now. @param now milliseconds since the epoch */
export const verdictAt = (pod: Pick<PodEvidence, 'verdict' | 'unready'>, now: number): Verdict =>
  isLost(pod, now) ? 'lost' : pod.verdict;

/** The owner reference of a pod's controller; undefined if there is none, or if a text in it is too long. */
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
 * Returns a key for the owner of a pod: its controller's namespace, apiVersion, kind and UID, or the pod's own UID if
 * it has no controller. The key has the namespace because the API server does not check owner references, so a pod may
 * name the UID of a controller in another namespace. The key is JSON, so different owners never have the same key.
 */
export function ownerKeyOf(metadata: Pick<ApiMeta, 'uid' | 'namespace' | 'ownerReferences'>): string {
  const controller = controllerOf(metadata);
  return controller === undefined ? metadata.uid : ownerKey(metadata.namespace ?? '', controller);
}

export const ownerKey = (namespace: string, { apiVersion, kind, uid }: Controller): string =>
  JSON.stringify([namespace, apiVersion, kind, uid]);

/** Whether an owner's key is that of a Kubernetes DaemonSet, whose pods cannot move to other nodes. */
export const isDaemonSet = (key: string): boolean => /^\["[^"]*","apps\/[^"]+","DaemonSet"/.test(key);
