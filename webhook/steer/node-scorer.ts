import type { NodeFacts } from '../readiness/facts.ts';
import { type Amounts, add, fits } from '../scheduling/amounts.ts';
import { type Expected, freeOf, type NodeUsage, type Taken, takenWith } from './node-usage.ts';
import type { PendingPod } from './pending-pod.ts';

/** So many nodes with room known make a choice; nobody is asked for more. */
const enough = 8;

/** A node with what is taken of it. */
export interface ScoredNode {
  node: NodeFacts;
  /** As it was found, without what is expected. */
  usage: NodeUsage;
  taken: Taken;
  /** What is left of it. */
  free: Amounts;
}

/** A node of which so much is taken. */
const scoredNode = (node: NodeFacts, usage: NodeUsage, taken: Taken): ScoredNode => ({
  node,
  usage,
  taken,
  free: freeOf(node.allocatable, taken),
});

/** Nodes with what is on them, what is expected there, and what this plan adds. */
export class NodeScorer {
  readonly #usage: (node: string) => NodeUsage | undefined;
  readonly #nodes = new Map<string, ScoredNode | undefined>();
  readonly #expected: Map<string, Expected[]>;

  /** @param expected pods that were sent to nodes before, by node */
  constructor(usage: (node: string) => NodeUsage | undefined, expected: Map<string, Expected[]>) {
    this.#usage = usage;
    this.#expected = expected;
  }

  /** The best of some nodes, and the nodes whose room would have to be known for a choice. */
  best(
    pod: PendingPod,
    nodes: readonly NodeFacts[],
  ): { scored: ScoredNode | undefined; why: string; unknown: string[] } {
    const fitting: { scored: ScoredNode; same: number; share: number }[] = [];
    const unknown: string[] = [];
    for (const node of nodes) {
      const scored = this.#node(node);
      if (scored === undefined) unknown.push(node.name);
      else if (fits(pod.requests, scored.free)) {
        fitting.push({
          scored,
          same: scored.taken.groups.get(pod.group) ?? 0,
          share: shareWith(pod, scored),
        });
      }
    }
    const best = fitting.reduce<(typeof fitting)[number] | undefined>(
      (one, other) => (one !== undefined && isBetter(one, other) ? one : other),
      undefined,
    );
    const why =
      best === undefined
        ? ''
        : `of ${fitting.length} with free capacity it has the fewest pods of that owner (${best.same}), and is ${Math.round(best.share * 100)} % full with this one`;
    return { scored: best?.scored, why, unknown: unknown.slice(0, Math.max(0, enough - fitting.length)) };
  }

  add({ node, usage, taken }: ScoredNode, { group, requests }: PendingPod): void {
    const groups = new Map(taken.groups).set(group, (taken.groups.get(group) ?? 0) + 1);
    this.#nodes.set(node.name, scoredNode(node, usage, { amounts: add(taken.amounts, requests), groups }));
  }

  #node(node: NodeFacts): ScoredNode | undefined {
    const { name } = node;
    if (this.#nodes.has(name)) return this.#nodes.get(name);
    const usage = this.#usage(name);
    const scored =
      usage === undefined
        ? undefined
        : scoredNode(node, usage, takenWith(usage, this.#expected.get(name) ?? []));
    this.#nodes.set(name, scored);
    return scored;
  }
}

/** How full the node would be with the pod, of what the pod asks for and is scarcest there: 1 is full. */
function shareWith({ requests }: PendingPod, { node, taken }: ScoredNode): number {
  const shares = Object.entries(requests).map(([name, amount]) => {
    const all = node.allocatable[name] ?? 0;
    return all === 0 ? 0 : ((taken.amounts[name] ?? 0) + amount) / all;
  });
  return Math.max(0, ...shares);
}

const isBetter = (one: { same: number; share: number }, other: { same: number; share: number }): boolean =>
  one.same < other.same || (one.same === other.same && one.share <= other.share);
