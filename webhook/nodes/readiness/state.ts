/**
 * The state of a DaemonSet on a node:
 * - `ready`: its pod is Ready;
 * - `starting`: its pod is not Ready, and pod or node is younger than the grace;
 * - `broken`: its pod has not been Ready for longer;
 * - `absent`: it should run on the node and has no pod there;
 * - `exempt`: it does not run on the node;
 * - `rebooted`: the node rebooted, and its pod has no container started since;
 * - `failing`: its pod is Ready, and the proofs of pods there say otherwise;
 * - `unproved`: no pod's proof has passed there since it started, where a profile requires one.
 *
 * The last two come from the evidence of pods (`webhook/nodes/evidence/profile-proof.ts`), the others from the DaemonSet.
 */
export type State = (typeof states)[number];

/** All states, in the order of display. */
export const states = [
  'ready',
  'exempt',
  'starting',
  'broken',
  'absent',
  'rebooted',
  'failing',
  'unproved',
] as const;

/** The number of nodes in each state. */
export type StateCounts = Record<State, number>;

/** No node in any state. */
export const noneYet = (): StateCounts =>
  Object.fromEntries(states.map((state) => [state, 0])) as StateCounts;

/** States in which a pod may be bound. */
export const open: ReadonlySet<State> = new Set<State>(['ready', 'exempt']);

/** The status of a DaemonSet on a node. */
export interface DaemonSetStatus {
  state: State;
  /** Name of its pod on the node. */
  pod?: string;
  /** What is missing, as text that is the same at each evaluation. Empty if nothing is. */
  reason: string;
  /** Start of the state, milliseconds since the epoch, from the cluster's objects; undefined if they do not show it. */
  since?: number | undefined;
  /**
   * When this process observed the state, if `since` is undefined. Replicas may differ by a moment, so no text shows
   * it.
   */
  observedAt?: number | undefined;
}
