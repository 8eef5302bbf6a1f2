import type { NodeFacts } from '../readiness/facts.ts';
import { isThere, sum } from '../scheduling/amounts.ts';
import { Candidates, type Takes } from './candidates.ts';
import type { History } from './history.ts';
import { type Expected, freeOf, type Room, type Taken, takenWith } from './room.ts';
import { reachesVolumes, type VolumeWish } from './volumes.ts';
import type { WaitingPod } from './waiting.ts';

/** What a plan is made from. */
export interface Known {
  nodes: readonly NodeFacts[];
  takes: Takes;
  /** What is taken of a node; undefined where that is not known. */
  room: (node: string) => Room | undefined;
  /** Where a pod's volumes can be used; undefined where that is not known. */
  volumes: (pod: WaitingPod) => VolumeWish | undefined;
  history: History;
  /** Where in the nodes to begin: see {@link Candidates}. */
  start: number;
  /** Milliseconds since the epoch. */
  now: number;
}

export interface Nomination {
  pod: WaitingPod;
  node: string;
  /** Why this node, for people. */
  why: string;
}

export interface Plan {
  nominations: Nomination[];
  /** What would have to be known for more, or better ones: names of nodes, and pods whose volumes matter. */
  unknown: { rooms: string[]; volumes: WaitingPod[] };
  /** When a pause ends that now keeps a pod from being nominated, milliseconds since the epoch. */
  again: number | undefined;
}

/** So many nodes with room known make a choice; nobody is asked for more. */
const choice = 8;

/**
 * Which pods to send where: pods that were refused by us go to a node that takes them and has room, to the one with
 * the fewest pods of the same controller, then to the emptiest. Nothing is done about a pod
 * - whose refused node takes it by now: its next try will do;
 * - that has a nomination which may still come true, ours or somebody else's, such as one for which other pods were
 *   preempted;
 * - that pauses, or whose group does: see {@link History}.
 *
 * @param most how many nominations at most
 */
export function plan(pods: Iterable<WaitingPod>, known: Known, most: number): Plan {
  const { history, now, volumes } = known;
  const candidates = new Candidates(known.nodes, known.takes, known.start);
  const sites = new Sites(known);
  const widths = new Map<string, number>();
  const result: Plan = { nominations: [], unknown: { rooms: [], volumes: [] }, again: undefined };
  for (const pod of [...pods].sort(byTime)) {
    if (result.nominations.length >= most) break;
    if (!needsHelp(pod, candidates, known)) continue;
    const notBefore = history.notBefore(pod);
    if (notBefore > now) {
      result.again = Math.min(notBefore, result.again ?? notBefore);
      continue;
    }
    const width = widths.get(pod.group) ?? history.width(pod);
    if (width <= 0) continue;
    const wish = pod.claims.length === 0 ? nowhere : volumes(pod);
    if (wish === undefined) {
      result.unknown.volumes.push(pod);
      continue;
    }
    const open = candidates
      .for(pod)
      .filter(
        (node) =>
          node.name !== pod.refused && !history.avoids(pod, node.name, now) && reachesVolumes(wish, node),
      );
    const found = sites.best(pod, open);
    if (found.unknown.length > 0) result.unknown.rooms.push(...found.unknown);
    if (found.site === undefined) continue;
    result.nominations.push({ pod, node: found.site.node.name, why: found.why });
    sites.add(found.site, pod);
    widths.set(pod.group, width - 1);
  }
  result.unknown.rooms = [...new Set(result.unknown.rooms)];
  return result;
}

const nowhere: VolumeWish = { affinities: [], selected: [] };

/** Those that wait longest first. */
const byTime = (one: WaitingPod, other: WaitingPod): number =>
  (one.heldSince ?? 0) - (other.heldSince ?? 0) || (one.name < other.name ? -1 : 1);

/** Whether a pod waits for our refusal alone, and nothing is under way for it. */
function needsHelp(pod: WaitingPod, candidates: Candidates, { history, nodes }: Known): boolean {
  const { refused, leaving, profiles, nominated } = pod;
  if (refused === undefined || leaving || history.isBusy(pod)) return false;
  if (candidates.takes(profiles, refused)) return false;
  // a nomination of somebody else's, or of a leader before this one
  return (
    nominated === '' ||
    !nodes.some(({ name }) => name === nominated) ||
    !candidates.takes(profiles, nominated)
  );
}

interface Site {
  node: NodeFacts;
  taken: Taken;
}

/** Nodes with what is on them, what is expected there, and what this plan adds. */
class Sites {
  readonly #known: Known;
  readonly #sites = new Map<string, Site | undefined>();
  readonly #expected: Map<string, Expected[]>;

  constructor(known: Known) {
    this.#known = known;
    this.#expected = known.history.expected();
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
      else if (isThere(pod.requests, freeOf(node.allocatable, site.taken))) {
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

  add({ node, taken }: Site, { group, requests }: WaitingPod): void {
    const groups = new Map(taken.groups).set(group, (taken.groups.get(group) ?? 0) + 1);
    this.#sites.set(node.name, { node, taken: { amounts: sum(taken.amounts, requests), groups } });
  }

  #site(node: NodeFacts): Site | undefined {
    const { name } = node;
    if (this.#sites.has(name)) return this.#sites.get(name);
    const room = this.#known.room(name);
    const site =
      room === undefined ? undefined : { node, taken: takenWith(room, this.#expected.get(name) ?? []) };
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
