import type { GatePod } from './facts/gate-pod.ts';
import type { Namespaces } from './facts/namespace.ts';
import type { EvidenceView } from './networks/evidence.ts';
import type { Holds } from './networks/holds.ts';
import type { Doubts } from './networks/network-status.ts';
import type { Readiness } from './networks/readiness.ts';

/** Finds pods that wait for a node. An implementation that has to ask the API server returns a promise. */
export interface PendingPods {
  /** Undefined where no pod has this name and UID. An empty `uid` fits any. */
  pod(namespace: string, name: string, uid: string): GatePod | undefined | Promise<GatePod | undefined>;
}

/**
 * Everything that the server knows of a cluster: from watches, from a file, or from the flag `--profile`.
 * @typeParam Pod the facts of a pod that waits for a node: steering needs more than the gate
 */
export interface ClusterView<Pod extends GatePod = GatePod> extends Doubts {
  readonly namespaces: Namespaces;
  /** The nodes, and the state of each DaemonSet on them. */
  readonly readiness: Readiness;
  /** What the init containers of pods found out about the networks of their nodes. */
  readonly evidence: EvidenceView;
  /** Single pods that wait for a node, by name. */
  readonly pods: PendingPods;
  readonly holds: Holds;
  /** Known pods that carry our label and wait for a node, with what {@link holds} knows of them. */
  pending(): Iterable<Pod>;
  /** Calls back with both states of pending pods that were added, changed or removed. @returns ends the subscription */
  subscribe(changed: (pods: readonly Pod[]) => void): () => void;
  /** Which nodes, DaemonSets and pods are not listed yet, for people; undefined once all are. */
  unsynced(): string | undefined;
  /** Why the server should not receive requests yet; undefined when it may. */
  unready(): string | undefined;
  /** Call it when another policy comes into force: its profiles can name other DaemonSets. */
  policyChanged(): void;
  /** Stops watching. Requests that still run may read the view until then. */
  close(): Promise<void>;
}
