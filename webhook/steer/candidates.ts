import type { NodeFacts } from '../readiness/facts.ts';
import type { Accepts } from './accepts.ts';
import { type MisfitCounts, misfitOf } from './misfit.ts';
import type { PendingPod } from './pending-pod.ts';
import { type Pausing, stepsPerNode, type Work } from './work.ts';

/** The number of candidates for pods of one kind. A good choice among 5,000 nodes does not need more. */
const forAChoice = 64;

/** The number of lists of accepting nodes that are kept, by profiles: each pod may name other profiles. */
const mostKept = 64;
/** Steps to look up the state of a DaemonSet on a node. */
const stepsPerStatus = 10;

/** Candidates, and why the other nodes that were compared do not fit. */
export interface Found {
  nodes: NodeFacts[];
  misfits: Readonly<MisfitCounts>;
}

/** What decides on the candidates of a pod. */
export interface Choosy extends Pick<PendingPod, 'kind' | 'constraints' | 'tolerations' | 'requests'> {
  profiles: readonly string[];
}

/** Finds nodes that would fit a pod if they were empty. Pods of the same kind get the same answer. */
export class Candidates {
  readonly #nodes: readonly NodeFacts[];
  readonly #accepts: Accepts;
  readonly #start: number;
  readonly #work: Work;
  readonly #enough: number;
  readonly #found = new Map<string, Found>();
  /** By profiles. When a whole cluster starts, few nodes accept any pod. */
  readonly #accepting = new Map<string, NodeFacts[]>();

  /**
   * @param start index of the node to begin with. With another index each time, all nodes get their turn
   * @param work counts the steps
   * @param enough the largest number of candidates for pods of one kind
   */
  constructor(nodes: readonly NodeFacts[], accepts: Accepts, start: number, work: Work, enough = forAChoice) {
    this.#nodes = nodes;
    this.#accepts = accepts;
    this.#start = start;
    this.#work = work;
    this.#enough = enough;
  }

  *for(pod: Choosy): Pausing<Found> {
    const known = this.#found.get(pod.kind);
    if (known !== undefined) return known;
    const accepting = yield* this.#acceptingNodes(pod.profiles);
    const steps = stepsPerNode(pod);
    const nodes: NodeFacts[] = [];
    const misfits: MisfitCounts = { 'not-ready': this.#nodes.length - accepting.length };
    for (let index = 0; index < accepting.length && nodes.length < this.#enough; index += 1) {
      const node = accepting[(this.#start + index) % accepting.length];
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

  *#acceptingNodes(profiles: readonly string[]): Pausing<NodeFacts[]> {
    const key = profiles.join(' ');
    const known = this.#accepting.get(key);
    if (known !== undefined) return known;
    const accepting: NodeFacts[] = [];
    for (const node of this.#nodes) {
      if (this.#work.spend(stepsPerStatus * profiles.length)) yield;
      if (this.#accepts(profiles, node.name)) accepting.push(node);
    }
    if (this.#accepting.size < mostKept) this.#accepting.set(key, accepting);
    return accepting;
  }
}
