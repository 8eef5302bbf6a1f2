import type { Namespaces } from './facts/namespace.ts';
import type { PendingPod } from './facts/pending-pod.ts';
import type { EvidenceView } from './networks/evidence.ts';
import type { Holds } from './networks/holds.ts';
import type { Doubts } from './networks/network-status.ts';
import type { Readiness } from './networks/readiness.ts';

/** Looks up pods that wait for a node. If a request to the API server is needed, the result is a promise. */
export interface PendingPods {
  /** Undefined if no pod has this name and UID. If `uid` is empty, only the name is compared. */
  pod(namespace: string, name: string, uid: string): PendingPod | undefined | Promise<PendingPod | undefined>;
}

/** Everything that the server knows about a cluster, from watches, from a file, or from the flag `--profile`. */
export interface ClusterView extends Doubts {
  readonly namespaces: Namespaces;
  /** The nodes, and the state of each DaemonSet on each node. */
  readonly readiness: Readiness;
  /** What the init containers of pods showed about the networks of their nodes. */
  readonly evidence: EvidenceView;
  /** Looks up a single pod that waits for a node, by its name. */
  readonly pods: PendingPods;
  readonly holds: Holds;
  /** All known pods with the label `cni-gate.io/profile` that wait for a node, each with its last known refusal. */
  pending(): Iterable<PendingPod>;
  /**
   * Calls `changed` with the old and new state of each changed pending pod.
   * @returns a function that ends the subscription
   */
  subscribe(changed: (pods: readonly PendingPod[]) => void): () => void;
  /** Which lists of nodes, DaemonSets or pods have not arrived yet, for messages; undefined once all have arrived. */
  unsynced(): string | undefined;
  /** Why the server should not receive requests yet; undefined if it may receive them. */
  unready(): string | undefined;
  /** Must be called after each change of the policy, because the new profiles may name other DaemonSets. */
  policyChanged(): void;
  /** Stops the watches. The server calls this method after its last answer, because answers use the view. */
  close(): Promise<void>;
}
