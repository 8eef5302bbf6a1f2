import type { NodeFacts } from '../readiness/facts.ts';
import { type Amounts, add, fits, subtract } from '../scheduling/amounts.ts';
import { type Expected, type NodeUsage, type Taken, takenWith } from './node-usage.ts';
import type { PendingPod } from './pending-pod.ts';

/** With so many fitting nodes no further node's usage is requested. */
const enough = 8;

/** The best node for a pod. */
export interface Best {
  node: NodeFacts;
  /** Why it is the best, for people. */
  why: string;
}

interface ScoredNode {
  taken: Taken;
  /** What is left of the node. */
  free: Amounts;
}

/** Chooses among nodes by what runs there, what is expected there, and what this plan adds. */
export class NodeScorer {
  readonly #usage: (node: string) => NodeUsage | undefined;
  readonly #expected: Map<string, Expected[]>;
  readonly #nodes = new Map<string, ScoredNode>();

  /**
   * @param usage of a node; undefined where it is not known
   * @param expected pods that were nominated before, by node
   */
  constructor(usage: (node: string) => NodeUsage | undefined, expected: Map<string, Expected[]>) {
    this.#usage = usage;
    this.#expected = expected;
  }

  /** The best of some nodes, if one fits, and the names of nodes whose usage is needed for a good choice. */
  best(pod: PendingPod, nodes: readonly NodeFacts[]): { best: Best | undefined; unknown: string[] } {
    const fitting: { node: NodeFacts; same: number; share: number }[] = [];
    const unknown: string[] = [];
    for (const node of nodes) {
      const scored = this.#scored(node);
      if (scored === undefined) unknown.push(node.name);
      else if (fits(pod.requests, scored.free)) {
        const same = scored.taken.groups.get(pod.group) ?? 0;
        fitting.push({ node, same, share: shareWith(pod, node, scored.taken) });
      }
    }
    const needed = unknown.slice(0, Math.max(0, enough - fitting.length));
    const [first, ...others] = fitting;
    if (first === undefined) return { best: undefined, unknown: needed };
    const { node, same, share } = others.reduce((one, other) => (isBetter(other, one) ? other : one), first);
    const why = `of ${fitting.length} with free capacity it has the fewest pods of that owner (${same}), and is ${Math.round(share * 100)} % full with this one`;
    return { best: { node, why }, unknown: needed };
  }

  /** Counts a pod on a node of {@link best}. */
  add({ name, allocatable }: NodeFacts, { group, requests }: PendingPod): void {
    const taken = this.#nodes.get(name)?.taken;
    if (taken === undefined) return;
    const groups = new Map(taken.groups).set(group, (taken.groups.get(group) ?? 0) + 1);
    const amounts = add(taken.amounts, requests);
    this.#nodes.set(name, { taken: { amounts, groups }, free: subtract(allocatable, amounts) });
  }

  #scored({ name, allocatable }: NodeFacts): ScoredNode | undefined {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const usage = this.#usage(name);
    if (usage === undefined) return undefined;
    const taken = takenWith(usage, this.#expected.get(name) ?? []);
    const scored = { taken, free: subtract(allocatable, taken.amounts) };
    this.#nodes.set(name, scored);
    return scored;
  }
}

/** The share of the node that is taken with the pod, of the scarcest resource that the pod requests: 1 is full. */
function shareWith({ requests }: PendingPod, { allocatable }: NodeFacts, { amounts }: Taken): number {
  const shares = Object.entries(requests).map(([name, amount]) => {
    const all = allocatable[name] ?? 0;
    return all === 0 ? 0 : ((amounts[name] ?? 0) + amount) / all;
  });
  return Math.max(0, ...shares);
}

const isBetter = (one: { same: number; share: number }, other: { same: number; share: number }): boolean =>
  one.same < other.same || (one.same === other.same && one.share < other.share);
