/**
 * The state of a DaemonSet on a node:
 * - `ready`: its pod is Ready;
 * - `starting`: its pod is not Ready, and the pod or the node is younger than `gate.startupGrace`;
 * - `broken`: its pod is not Ready, and the pod and the node are older;
 * - `absent`: it should run on the node but has no pod there;
 * - `exempt`: it is not meant to run on the node;
 * - `rebooted`: the node rebooted, and the status of the DaemonSet's pod may be from before the reboot;
 * - `failing`: its pod is Ready, but the proofs of pods on the node fail;
 * - `unproved`: its pod is Ready, but a profile requires a proof, and no proof has passed on the node since
 *   the pod's containers started.
 *
 * The last two states come from the proofs of pods (`proof-status.ts`), the others from the DaemonSet (`readiness.ts`).
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

type StateCounts = Record<State, number>;

export const noneYet = (): StateCounts =>
  Object.fromEntries(states.map((state) => [state, 0])) as StateCounts;

/** The states of a DaemonSet in which pods may be bound to the node. */
export const openStates: ReadonlySet<State> = new Set<State>(['ready', 'exempt']);

export interface DaemonSetStatus {
  state: State;
  /** The name of the DaemonSet's pod on the node. */
  pod?: string;
  /** What is missing, as a text that changes only with the cause; empty if nothing is missing. */
  reason: string;
  /** When the state began, in milliseconds since the epoch; undefined if the cluster's objects do not show it. */
  since?: number | undefined;
}
