import type { NodeFacts } from '../readiness/facts.ts';
import { type MisfitCounts, misfitOf } from './misfit.ts';
import type { WaitingPod } from './waiting.ts';

/**
 * Says whether a node may take a pod of these profiles: each of their DaemonSets is ready there or does not want it.
 */
export type Takes = (profiles: readonly string[], node: string) => boolean;

/** More are not looked at for pods of one kind in one go: 5,000 nodes need not be known to choose a good one. */
const enough = 64;

/** Nodes that suit a pod, and why those that were looked at before enough were found do not. */
export interface Found {
  nodes: NodeFacts[];
  misfits: Readonly<MisfitCounts>;
}

/** Nodes for pods, whatever is on them already. Pods that ask for the same are looked at once. */
export class Candidates {
  readonly #nodes: readonly NodeFacts[];
  readonly #takes: Takes;
  readonly #start: number;
  readonly #found = new Map<string, Found>();
  /** By profiles: few nodes take anybody when it matters most, as when a whole cluster starts. */
  readonly #taking = new Map<string, NodeFacts[]>();

  /** @param start where in the nodes to begin to look: another one each time finds them all in the end */
  constructor(nodes: readonly NodeFacts[], takes: Takes, start: number) {
    this.#nodes = nodes;
    this.#takes = takes;
    this.#start = start;
  }

  for(pod: WaitingPod): Found {
    const known = this.#found.get(pod.kind);
    if (known !== undefined) return known;
    const taking = this.#takingNodes(pod.profiles);
    const nodes: NodeFacts[] = [];
    const misfits: MisfitCounts = { 'not-ready': this.#nodes.length - taking.length };
    for (let index = 0; index < taking.length && nodes.length < enough; index += 1) {
      const node = taking[(this.#start + index) % taking.length];
      if (node === undefined) continue;
      const misfit = misfitOf(pod, node);
      if (misfit === undefined) nodes.push(node);
      else misfits[misfit] = (misfits[misfit] ?? 0) + 1;
    }
    const found = { nodes, misfits };
    this.#found.set(pod.kind, found);
    return found;
  }

  #takingNodes(profiles: readonly string[]): NodeFacts[] {
    const key = profiles.join(' ');
    const known = this.#taking.get(key);
    if (known !== undefined) return known;
    const taking = this.#nodes.filter(({ name }) => this.#takes(profiles, name));
    this.#taking.set(key, taking);
    return taking;
  }
}
