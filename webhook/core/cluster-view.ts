import type { Namespaces } from './facts/namespace.ts';
import type { PendingPod } from './facts/pending-pod.ts';
import type { EvidenceView } from './networks/evidence.ts';
import type { Holds } from './networks/holds.ts';
import type { Doubts } from './networks/network-status.ts';
import type { Readiness } from './networks/readiness.ts';

/** Finds pods that wait for a node. An implementation that sends a request to the API server returns a promise. */
export interface PendingPods {
  /** Undefined if no pod has this name and UID. With an empty `uid`, only the name counts. */
  pod(namespace: string, name: string, uid: string): PendingPod | undefined | Promise<PendingPod | undefined>;
}

/** Everything that the server knows about a cluster. The source is watches, a file, or the flag `--profile`. */
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
  /** Calls back with the old and the new state of each pending pod that changed. @returns ends the subscription */
  subscribe(changed: (pods: readonly PendingPod[]) => void): () => void;
  /** Which lists of nodes, DaemonSets or pods have not arrived yet, as text for people; undefined once all have. */
  unsynced(): string | undefined;
  /** Why the server should not receive requests yet; undefined if it may receive them. */
  unready(): string | undefined;
  /** Must be called when another policy comes into force, because its profiles can name other DaemonSets. */
  policyChanged(): void;
  /** Stops the watches. The server calls it after its last answer, because requests read the view. */
  close(): Promise<void>;
}
