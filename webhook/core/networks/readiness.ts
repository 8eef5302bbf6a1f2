import { getOrMake } from '../../lib/maps.ts';
import { nameOf } from '../../lib/names.ts';
import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../facts/node.ts';
import type { DaemonSetRef } from '../profiles/types.ts';
import { wantsDaemonPod } from '../scheduling/daemon.ts';
import { Boots } from './boots.ts';
import type { DaemonSetStatus } from './daemon-set-status.ts';
import { isLater, type Moment } from './moment.ts';

/** A pod of a network's DaemonSet. */
interface Agent extends AgentFacts {
  /** When the pod's latest container started. */
  start: Moment;
  /** For each container's ID, the pod's `metadata.resourceVersion` when the container was first observed. */
  shownBy: ReadonlyMap<string, string>;
}

/** The readiness of nodes, computed from watch events without I/O and without a clock. */
export class Readiness {
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #daemonSets = new Map<string, DaemonSetFacts>();
  readonly #agents = new Map<string, Agent>();
  /** Agents by node, then by UID. */
  readonly #onNode = new Map<string, Map<string, Agent>>();
  readonly #boots = new Boots();

  /** @param now milliseconds since the epoch, like all times here @returns whether the node has booted */
  setNode(facts: NodeFacts, now: number): boolean {
    this.#nodes.set(facts.name, facts);
    return this.#boots.node(facts, now);
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.#boots.forget(name);
  }

  setDaemonSet(facts: DaemonSetFacts): void {
    this.#daemonSets.set(nameOf(facts), facts);
  }

  removeDaemonSet(daemonSet: DaemonSetRef): void {
    this.#daemonSets.delete(nameOf(daemonSet));
  }

  /** Records a new or changed agent. @param listed whether it comes from a list, so that the change may be old */
  setAgent(facts: AgentFacts, listed = false): void {
    const { uid, node, version, containers, startedAt: at = Number.NEGATIVE_INFINITY } = facts;
    const before = this.#agents.get(uid);
    // a watch event, unlike a list, comes soon after the start, so the start counts as later than all earlier writes
    const start = { at, after: before && !listed ? version : before?.version, shownBy: version };
    const agent: Agent = {
      ...facts,
      start: before === undefined || hasStarted(before, facts) ? start : before.start,
      shownBy: new Map(containers.map((id) => [id, before?.shownBy.get(id) ?? version])),
    };
    this.removeAgent(uid);
    this.#agents.set(uid, agent);
    if (node !== '') getOrMake(this.#onNode, node, () => new Map()).set(uid, agent);
  }

  removeAgent(uid: string): void {
    const before = this.#agents.get(uid);
    if (before === undefined) return;
    this.#agents.delete(uid);
    const onNode = this.#onNode.get(before.node);
    onNode?.delete(uid);
    if (onNode?.size === 0) this.#onNode.delete(before.node);
  }

  knows(daemonSet: DaemonSetRef): boolean {
    return this.#daemonSets.has(nameOf(daemonSet));
  }

  /**
   * The status of a DaemonSet on a node; undefined if the DaemonSet or the node is unknown.
   * @param grace how long a new pod or node may take to become ready, in milliseconds
   */
  status(daemonSet: DaemonSetRef, nodeName: string, now: number, grace: number): DaemonSetStatus | undefined {
    const found = this.#daemonSets.get(nameOf(daemonSet));
    const node = this.#nodes.get(nodeName);
    if (found === undefined || node === undefined) return undefined;
    const agents = [...(this.#onNode.get(nodeName)?.values() ?? [])].filter((agent) => isOf(agent, found));
    const isStale = ({ shownBy }: Agent): boolean =>
      this.#boots.isStale(nodeName, [...shownBy.values()], now);
    const staying = agents.filter((agent) => !agent.leaving);
    const agent = staying.find((pod) => pod.ready && !isStale(pod)) ?? newest(staying);
    if (agent === undefined) {
      if (!wantsDaemonPod(found.template, node)) return { state: 'exempt', reason: '' };
      const leaving = newest(agents);
      return leaving === undefined
        ? { state: 'absent', reason: 'no pod of it is on the node' }
        : { state: 'absent', pod: leaving.name, reason: 'its pod has ended or is being deleted' };
    }
    if (isStale(agent)) {
      const reason = `not all containers of its pod have started since the node's boot ${node.bootID}`;
      return { state: 'rebooted', pod: agent.name, reason };
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

  /** The latest start of a container in these DaemonSets' pods on a node; minus infinity if no pod shows a start. */
  started(daemonSets: readonly DaemonSetRef[], nodeName: string): Moment {
    const known = daemonSets.flatMap((daemonSet) => this.#daemonSets.get(nameOf(daemonSet)) ?? []);
    let latest: Moment = { at: Number.NEGATIVE_INFINITY };
    for (const agent of this.#onNode.get(nodeName)?.values() ?? []) {
      const counts = !agent.leaving && known.some((daemonSet) => isOf(agent, daemonSet));
      if (counts && isLater(agent.start, latest)) latest = agent.start;
    }
    return latest;
  }

  node(name: string): NodeFacts | undefined {
    return this.#nodes.get(name);
  }

  nodes(): Iterable<NodeFacts> {
    return this.#nodes.values();
  }
}

/** Whether the pod belongs to the DaemonSet. A pod in another namespace may claim the DaemonSet's UID. */
const isOf = ({ namespace, owner }: AgentFacts, daemonSet: DaemonSetFacts): boolean =>
  namespace === daemonSet.namespace && owner === daemonSet.uid;

const newest = (agents: Agent[]): Agent | undefined =>
  agents.toSorted((one, other) => other.createdAt - one.createdAt)[0];

/** Whether a container has started between two versions of a pod. */
const hasStarted = (before: AgentFacts, now: AgentFacts): boolean =>
  now.containers.some((id) => !before.containers.includes(id)) ||
  (now.startedAt ?? 0) > (before.startedAt ?? 0);
