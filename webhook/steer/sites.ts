import type { NodeFacts } from '../readiness/facts.ts';
import { type Amounts, isThere, sum } from '../scheduling/amounts.ts';
import { type Expected, freeOf, type Room, type Taken, takenWith } from './room.ts';
import type { WaitingPod } from './waiting.ts';

/** So many nodes with room known make a choice; nobody is asked for more. */
const choice = 8;

/** A node with what is taken of it. */
export interface Site {
  node: NodeFacts;
  /** As it was found, without what is expected. */
  room: Room;
  taken: Taken;
  /** What is left of it. */
  free: Amounts;
}

/** The site of a node of which so much is taken. */
const siteOf = (node: NodeFacts, room: Room, taken: Taken): Site => ({
  node,
  room,
  taken,
  free: freeOf(node.allocatable, taken),
});

/** Nodes with what is on them, what is expected there, and what this plan adds. */
export class Sites {
  readonly #room: (node: string) => Room | undefined;
  readonly #sites = new Map<string, Site | undefined>();
  readonly #expected: Map<string, Expected[]>;

  /** @param expected pods that were sent to nodes before, by node */
  constructor(room: (node: string) => Room | undefined, expected: Map<string, Expected[]>) {
    this.#room = room;
    this.#expected = expected;
  }

  /** The best of some nodes, and the nodes whose room would have to be known for a choice. */
  best(
    pod: WaitingPod,
    nodes: readonly NodeFacts[],
  ): { site: Site | undefined; why: string; unknown: string[] } {
    const fitting: { site: Site; same: number; share: number }[] = [];
    const unknown: string[] = [];
    for (const node of nodes) {
      const site = this.#site(node);
      if (site === undefined) unknown.push(node.name);
      else if (isThere(pod.requests, site.free)) {
        fitting.push({ site, same: site.taken.groups.get(pod.group) ?? 0, share: shareWith(pod, site) });
      }
    }
    const best = fitting.reduce<(typeof fitting)[number] | undefined>(
      (one, other) => (one !== undefined && isBetter(one, other) ? one : other),
      undefined,
    );
    const why =
      best === undefined
        ? ''
        : `of ${fitting.length} with room it has the fewest pods of that owner (${best.same}), and is ${Math.round(best.share * 100)} % full with this one`;
    return { site: best?.site, why, unknown: unknown.slice(0, Math.max(0, choice - fitting.length)) };
  }

  add({ node, room, taken }: Site, { group, requests }: WaitingPod): void {
    const groups = new Map(taken.groups).set(group, (taken.groups.get(group) ?? 0) + 1);
    this.#sites.set(node.name, siteOf(node, room, { amounts: sum(taken.amounts, requests), groups }));
  }

  #site(node: NodeFacts): Site | undefined {
    const { name } = node;
    if (this.#sites.has(name)) return this.#sites.get(name);
    const room = this.#room(name);
    const site =
      room === undefined ? undefined : siteOf(node, room, takenWith(room, this.#expected.get(name) ?? []));
    this.#sites.set(name, site);
    return site;
  }
}

/** How full the node would be with the pod, of what the pod asks for and is scarcest there: 1 is full. */
function shareWith({ requests }: WaitingPod, { node, taken }: Site): number {
  const shares = Object.entries(requests).map(([name, amount]) => {
    const all = node.allocatable[name] ?? 0;
    return all === 0 ? 0 : ((taken.amounts[name] ?? 0) + amount) / all;
  });
  return Math.max(0, ...shares);
}

const isBetter = (one: { same: number; share: number }, other: { same: number; share: number }): boolean =>
  one.same < other.same || (one.same === other.same && one.share <= other.share);
