import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../facts/node.ts';
import { wantsDaemonPod } from '../scheduling/daemon.ts';

/**
 * The state of a DaemonSet on a node:
 * - `ready`: its pod is Ready;
 * - `starting`: its pod is not Ready, and the pod or the node is younger than `gate.startupGrace`;
 * - `broken`: its pod is not Ready, and the pod and the node are older;
 * - `absent`: it should run on the node but has no pod there;
 * - `exempt`: it is not meant to run on the node;
 * - `rebooted`: the node rebooted, and no container of its pod has started since;
 * - `failing`: its pod is Ready, but the proofs of pods on the node fail;
 * - `unproved`: its pod is Ready, but a profile requires a proof, and none has passed there since the pod started.
 *
 * The last two states come from the proofs of pods (`network-status.ts`), the others from the DaemonSet.
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

export type StateCounts = Record<State, number>;

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
  /** If `since` is undefined: when this process saw the state begin. No text has it, because replicas differ. */
  observedAt?: number | undefined;
}

/** What the state of a DaemonSet on a node depends on. */
export interface Known {
  daemonSet: DaemonSetFacts;
  node: NodeFacts;
  agents: AgentFacts[];
  /** When a pod of any network's DaemonSet was last removed from the node; undefined if none was. */
  lostAt: number | undefined;
  /** When the node's last boot was observed; undefined if none was lately, or all known containers started after it. */
  staleSince: (agent: AgentFacts) => number | undefined;
}

/** The status of a DaemonSet on a node. @param grace how long a new pod or node may take, in milliseconds */
export function daemonSetStatus(known: Known, now: number, grace: number): DaemonSetStatus {
  const { daemonSet, node, agents, lostAt, staleSince } = known;
  const staying = agents.filter((agent) => !agent.leaving);
  const agent = staying.find((pod) => pod.ready && staleSince(pod) === undefined) ?? newest(staying);
  if (agent === undefined) {
    if (!wantsDaemonPod(daemonSet.template, node)) return { state: 'exempt', reason: '' };
    const leaving = newest(agents);
    const observedAt = lostAt ?? node.createdAt;
    return leaving === undefined
      ? { state: 'absent', reason: 'no pod of it is on the node', observedAt }
      : { state: 'absent', pod: leaving.name, reason: 'its pod has ended or is being deleted', observedAt };
  }
  const observedAt = staleSince(agent);
  if (observedAt !== undefined) {
    const reason = `no container of its pod was started in the node's boot ${node.bootID}`;
    return { state: 'rebooted', pod: agent.name, reason, observedAt };
  }
  if (agent.ready) return { state: 'ready', pod: agent.name, reason: '', since: agent.readySince };
  const young = now - Math.max(agent.createdAt, node.createdAt) < grace;
  return {
    state: young ? 'starting' : 'broken',
    pod: agent.name,
    reason: agent.reason === '' ? 'its pod is not Ready' : `its pod is not Ready: ${agent.reason}`,
    since: agent.readySince ?? agent.createdAt,
  };
}

const newest = (agents: AgentFacts[]): AgentFacts | undefined =>
  agents.reduce<AgentFacts | undefined>(
    (latest, candidate) =>
      latest !== undefined && latest.createdAt >= candidate.createdAt ? latest : candidate,
    undefined,
  );
