/**
 * The state of a DaemonSet on a node:
 * - `ready`: its pod is;
 * - `starting`: its pod is not, and pod or node is younger than the grace;
 * - `broken`: its pod is not, for longer;
 * - `absent`: it wants the node, and no pod of it is there;
 * - `exempt`: it does not want the node;
 * - `rebooted`: the node was booted again, and its pod has no container started since.
 */
export type State = (typeof states)[number];

/** All of them, as they are told to people. */
export const states = ['ready', 'exempt', 'starting', 'broken', 'absent', 'rebooted'] as const;

/** States that a pod may be bound in. */
export const open: ReadonlySet<State> = new Set<State>(['ready', 'exempt']);

/** What is known of a DaemonSet on a node. */
export interface DaemonSetStatus {
  state: State;
  /** Name of the pod that it is about. */
  pod?: string;
  /** What is missing, for people; the same from look to look. Empty where nothing is. */
  reason: string;
  /** Since when, milliseconds since the epoch, from the cluster's objects; undefined where they do not tell. */
  since?: number | undefined;
  /**
   * From when on a pod may have been held for it, where `since` does not tell: what was observed here, so replicas may
   * differ by a moment, and no text tells it.
   */
  observedAt?: number | undefined;
}
