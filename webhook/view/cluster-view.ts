import type { Namespaces } from '../admission/namespaces.ts';
import type { DaemonSetRef } from '../config/types.ts';
import type { PendingPods } from '../gate/gate.ts';
import type { GatePod } from '../gate/gate-pod.ts';
import type { Readiness } from '../readiness/readiness.ts';

/** What the server knows of a cluster, wherever it has it from. Each part is read anew for each request. */
export interface ClusterView {
  readonly namespaces: Namespaces;
  readonly readiness: Readiness;
  readonly pods: PendingPods;
  /** Pods of ours that wait for a node, as far as they are known. */
  pending(): Iterable<GatePod>;
  /** What of nodes, DaemonSets and their pods is not known yet, for people. */
  unsynced(): string | undefined;
  /** Whether the nodes, or the pods of this DaemonSet, are not all known yet. */
  notSynced(daemonSet: DaemonSetRef): boolean;
  /** Whether a node is so new here that nothing has been heard of the DaemonSet's pods since it came. */
  notObservedSince(daemonSet: DaemonSetRef, node: string): boolean;
  /** Resolves when all of that is known; it may stay open for ever. */
  whenSynced(): Promise<void>;
  /** Why no calls should come here yet, or undefined when they may. */
  unready?(): string | undefined;
  /** Another policy is in force: it may name other DaemonSets. */
  policyChanged?(): void;
  close?(): void | Promise<void>;
}
