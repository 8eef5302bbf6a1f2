import { wantsDaemonPod } from '../scheduling/daemon.ts';
import type { AgentFacts, DaemonSetFacts, NodeFacts } from './facts.ts';
import type { Standing } from './state.ts';

/** What a judgement rests on. */
export interface Evidence {
  daemonSet: DaemonSetFacts;
  node: NodeFacts;
  /** Pods of the DaemonSet on the node. */
  agents: AgentFacts[];
  /** Whether a pod has a container started in the node's present boot. */
  startedSince: (agent: AgentFacts) => boolean;
}

/**
 * The standing of a DaemonSet on a node.
 *
 * @param now milliseconds since the epoch
 * @param grace how long a new pod or node may take, in milliseconds
 */
export function judge(evidence: Evidence, now: number, grace: number): Standing {
  const { daemonSet, node, agents, startedSince } = evidence;
  const staying = agents.filter((agent) => !agent.leaving);
  const agent = staying.find((one) => one.ready && startedSince(one)) ?? newest(staying);
  if (agent === undefined) {
    if (!wantsDaemonPod(daemonSet.template, node)) return { state: 'exempt', lacks: '' };
    const leaving = newest(agents);
    return leaving === undefined
      ? { state: 'absent', lacks: 'no pod of it is on the node' }
      : { state: 'absent', pod: leaving.name, lacks: 'its pod has ended or is being deleted' };
  }
  if (!startedSince(agent)) {
    const lacks = `no container of its pod was started in the node's boot ${node.bootID}`;
    return { state: 'rebooted', pod: agent.name, lacks };
  }
  if (agent.ready) return { state: 'ready', pod: agent.name, lacks: '', since: agent.readySince };
  const young = now - Math.max(agent.createdAt, node.createdAt) < grace;
  return {
    state: young ? 'starting' : 'broken',
    pod: agent.name,
    lacks: agent.lacks === '' ? 'its pod is not Ready' : `its pod is not Ready: ${agent.lacks}`,
    since: agent.readySince ?? agent.createdAt,
  };
}

const newest = (agents: AgentFacts[]): AgentFacts | undefined =>
  agents.reduce<AgentFacts | undefined>(
    (one, other) => (one !== undefined && one.createdAt >= other.createdAt ? one : other),
    undefined,
  );
