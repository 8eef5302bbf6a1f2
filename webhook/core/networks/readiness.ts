import { getOrMake } from '../../lib/maps.ts';
import { nameOf } from '../../lib/names.ts';
import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../facts/node.ts';
import type { DaemonSetRef } from '../profiles/types.ts';
import { Boots } from './boots.ts';
import { type DaemonSetStatus, daemonSetStatus } from './daemon-set-status.ts';
import { isLater, type Moment } from './moment.ts';

/** The readiness of nodes, computed from watch events without I/O and without a clock. */
export class Readiness {
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #daemonSets = new Map<string, DaemonSetFacts>();
  readonly #agents = new Map<string, AgentFacts>();
  /** Agents (the pods of networks' DaemonSets) by node, then by UID. */
  readonly #onNode = new Map<string, Map<string, AgentFacts>>();
  /** When the latest container of each agent started, by the agent's UID. */
  readonly #starts = new Map<string, Moment>();
  /** When an agent was last removed from each node, in milliseconds since the epoch. */
  readonly #lostAt = new Map<string, number>();
  readonly #boots = new Boots();

  /** @param now milliseconds since the epoch, like all times here */
  setNode(facts: NodeFacts, now: number): void {
    this.#boots.node(facts, now);
    this.#nodes.set(facts.name, facts);
  }

  removeNode(name: string): void {
    this.#nodes.delete(name);
    this.#lostAt.delete(name);
  }

  setDaemonSet(facts: DaemonSetFacts): void {
    this.#daemonSets.set(nameOf(facts), facts);
  }

  removeDaemonSet(daemonSet: DaemonSetRef): void {
    this.#daemonSets.delete(nameOf(daemonSet));
  }

  /** Records a new or changed agent. @param listed whether it comes from a list, so that the change may be old */
  setAgent(facts: AgentFacts, listed = false): void {
    const { startedAt: at = Number.NEGATIVE_INFINITY, version: shownBy } = facts;
    const before = this.#agents.get(facts.uid);
    if (before === undefined || hasStarted(before, facts)) {
      // an event, unlike a list, comes within seconds of the start
      this.#starts.set(facts.uid, { at, after: before && !listed ? shownBy : before?.version, shownBy });
    }
    this.#dropAgent(facts.uid);
    this.#boots.agent(facts);
    this.#agents.set(facts.uid, facts);
    if (facts.node === '') return;
    getOrMake(this.#onNode, facts.node, () => new Map()).set(facts.uid, facts);
  }

  removeAgent(uid: string, now: number): void {
    const { node = '' } = this.#agents.get(uid) ?? {};
    // a pod can name a node that does not exist
    if (this.#nodes.has(node)) this.#lostAt.set(node, now);
    this.#dropAgent(uid);
    this.#boots.forgetAgent(uid);
    this.#starts.delete(uid);
  }

  knows(daemonSet: DaemonSetRef): boolean {
    return this.#daemonSets.has(nameOf(daemonSet));
  }

  /** The status of a DaemonSet on a node; undefined if the DaemonSet or the node is unknown. */
  status(daemonSet: DaemonSetRef, nodeName: string, now: number, grace: number): DaemonSetStatus | undefined {
    const found = this.#daemonSets.get(nameOf(daemonSet));
    const node = this.#nodes.get(nodeName);
    if (found === undefined || node === undefined) return undefined;
    const all = this.#onNode.get(nodeName)?.values() ?? [];
    const agents = [...all].filter((agent) => isOf(agent, found));
    const staleSince = (agent: AgentFacts): number | undefined => this.#boots.staleSince(agent, now);
    const lostAt = this.#lostAt.get(nodeName);
    return daemonSetStatus({ daemonSet: found, node, agents, lostAt, staleSince }, now, grace);
  }

  /** The latest start of a container in these DaemonSets' pods on a node; minus infinity if no pod shows a start. */
  started(daemonSets: readonly DaemonSetRef[], nodeName: string): Moment {
    const known = daemonSets.flatMap((daemonSet) => this.#daemonSets.get(nameOf(daemonSet)) ?? []);
    let latest: Moment = { at: Number.NEGATIVE_INFINITY };
    for (const agent of this.#onNode.get(nodeName)?.values() ?? []) {
      const start = this.#starts.get(agent.uid) ?? latest;
      const counts = !agent.leaving && known.some((daemonSet) => isOf(agent, daemonSet));
      if (counts && isLater(start, latest)) latest = start;
    }
    return latest;
  }

  node(name: string): NodeFacts | undefined {
    return this.#nodes.get(name);
  }

  /** When this process saw the node boot. */
  bootSeen(node: string): number | undefined {
    return this.#boots.seen(node);
  }

  nodes(): Iterable<NodeFacts> {
    return this.#nodes.values();
  }

  #dropAgent(uid: string): void {
    const before = this.#agents.get(uid);
    if (before === undefined) return;
    this.#agents.delete(uid);
    const onNode = this.#onNode.get(before.node);
    onNode?.delete(uid);
    if (onNode?.size === 0) this.#onNode.delete(before.node);
  }
}

/** Whether the pod belongs to the DaemonSet. A pod in another namespace may claim the DaemonSet's UID. */
const isOf = ({ namespace, owner }: AgentFacts, daemonSet: DaemonSetFacts): boolean =>
  namespace === daemonSet.namespace && owner === daemonSet.uid;

/** Whether a container has started between two versions of a pod. */
const hasStarted = (before: AgentFacts, now: AgentFacts): boolean =>
  now.containers.some((id) => !before.containers.includes(id)) ||
  (now.startedAt ?? 0) > (before.startedAt ?? 0);
