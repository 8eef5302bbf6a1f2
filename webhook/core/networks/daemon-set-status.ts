import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../facts/node.ts';
import { wantsDaemonPod } from '../scheduling/daemon.ts';

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
 * The last two come from the proofs of pods (`network-status.ts`), the others from the DaemonSet.
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

/** States in which a pod may be bound. */
export const openStates: ReadonlySet<State> = new Set<State>(['ready', 'exempt']);

export interface DaemonSetStatus {
  state: State;
  /** Name of its pod on the node. */
  pod?: string;
  /** What is missing, as text that is the same at each evaluation. Empty if nothing is. */
  reason: string;
  /** Start of the state in milliseconds since the epoch; undefined if the cluster's objects do not show it. */
  since?: number | undefined;
  /** Without `since`: when this process saw it start. No text shows it, as replicas may differ. */
  observedAt?: number | undefined;
}

/** What decides about a DaemonSet on a node. */
export interface Known {
  daemonSet: DaemonSetFacts;
  node: NodeFacts;
  agents: AgentFacts[];
  /** When a pod of any DaemonSet was last seen to be gone from the node; undefined if none was. */
  lostAt: number | undefined;
  /** When the boot was observed in which no container of a pod was started; undefined if one was. */
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
