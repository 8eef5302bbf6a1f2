import type { NodeFacts } from '../readiness/facts.ts';
import { type MisfitCounts, misfitOf } from './misfit.ts';
import type { PendingPod } from './pending-pod.ts';
import { type Pausing, stepsPerNode, type Work } from './work.ts';

/**
 * Says whether a node may take a pod of these profiles: each of their DaemonSets is ready there or does not want it.
 */
export type Accepts = (profiles: readonly string[], node: string) => boolean;

/** More are not looked at for pods of one kind in one go: 5,000 nodes need not be known to choose a good one. */
const enough = 64;

/** So many lists of nodes are kept, by profiles: anybody may name other ones on each pod. */
const mostKept = 64;
/** Steps to look up how a DaemonSet stands on a node. */
const stepsPerStatus = 10;

/** Nodes that suit a pod, and why those that were looked at before enough were found do not. */
export interface Found {
  nodes: NodeFacts[];
  misfits: Readonly<MisfitCounts>;
}

/** Nodes for pods, whatever is on them already. Pods that ask for the same are looked at once. */
export class Candidates {
  readonly #nodes: readonly NodeFacts[];
  readonly #accepts: Accepts;
  readonly #start: number;
  readonly #work: Work;
  readonly #found = new Map<string, Found>();
  /** By profiles: few nodes take anybody when it matters most, as when a whole cluster starts. */
  readonly #taking = new Map<string, NodeFacts[]>();

  /**
   * @param start where in the nodes to begin to look: another one each time finds them all in the end
   * @param work where the steps are counted
   */
  constructor(nodes: readonly NodeFacts[], accepts: Accepts, start: number, work: Work) {
    this.#nodes = nodes;
    this.#accepts = accepts;
    this.#start = start;
    this.#work = work;
  }

  *for(pod: PendingPod): Pausing<Found> {
    const known = this.#found.get(pod.kind);
    if (known !== undefined) return known;
    const taking = yield* this.#takingNodes(pod.profiles);
    const steps = stepsPerNode(pod);
    const nodes: NodeFacts[] = [];
    const misfits: MisfitCounts = { 'not-ready': this.#nodes.length - taking.length };
    for (let index = 0; index < taking.length && nodes.length < enough; index += 1) {
      const node = taking[(this.#start + index) % taking.length];
      if (node === undefined) continue;
      // tolerations are compared with each taint
      if (this.#work.spend(steps * (1 + node.taints.length))) yield;
      const misfit = misfitOf(pod, node);
      if (misfit === undefined) nodes.push(node);
      else misfits[misfit] = (misfits[misfit] ?? 0) + 1;
    }
    const found = { nodes, misfits };
    this.#found.set(pod.kind, found);
    return found;
  }

  *#takingNodes(profiles: readonly string[]): Pausing<NodeFacts[]> {
    const key = profiles.join(' ');
    const known = this.#taking.get(key);
    if (known !== undefined) return known;
    const taking: NodeFacts[] = [];
    for (const node of this.#nodes) {
      if (this.#work.spend(stepsPerStatus * profiles.length)) yield;
      if (this.#accepts(profiles, node.name)) taking.push(node);
    }
    if (this.#taking.size < mostKept) this.#taking.set(key, taking);
    return taking;
  }
}
