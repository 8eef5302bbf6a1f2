import type { NodeFacts } from '../readiness/facts.ts';
import { Candidates, type Takes } from './candidates.ts';
import type { History } from './history.ts';
import { Hopes } from './hopes.ts';
import { lookOf } from './look.ts';
import type { Misfit, MisfitCounts } from './misfit.ts';
import { once } from './once.ts';
import type { PassedOver } from './passed-over.ts';
import type { Room } from './room.ts';
import { Sites } from './sites.ts';
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
  /** Told of each pod that waits for a node and is nominated nowhere. */
  passedOver?: (pod: WaitingPod, why: PassedOver) => void;
}

export interface Nomination {
  pod: WaitingPod;
  node: string;
  /** Why this node, for people. */
  why: string;
  /** How the node looked: {@link lookOf}. */
  look: string;
}

export interface Plan {
  nominations: Nomination[];
  /** What would have to be known for more, or better ones: names of nodes, and pods whose volumes matter. */
  unknown: { rooms: string[]; volumes: WaitingPod[] };
  /** When a pause ends that now keeps a pod from being nominated, milliseconds since the epoch. */
  again: number | undefined;
}

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
  const { history, now, volumes, passedOver = () => {} } = known;
  const candidates = new Candidates(known.nodes, known.takes, known.start);
  // what is known of a node may become too old while this is made
  const room = once(known.room);
  const look = once((node: NodeFacts) => {
    const there = room(node.name);
    return there && lookOf(node, there);
  });
  const hopes = new Hopes((node) => room(node)?.pods);
  const sites = new Sites(room, history.expected());
  const widths = new Map<string, number>();
  const result: Plan = { nominations: [], unknown: { rooms: [], volumes: [] }, again: undefined };
  for (const pod of [...pods].sort(byTime)) {
    if (result.nominations.length >= most) break;
    if (!isRefused(pod)) continue;
    const settledBy = needsNoHelp(pod, known);
    if (settledBy !== undefined) {
      passedOver(pod, { why: settledBy });
      continue;
    }
    const seen = othersSeenFrom(pod, now);
    const notBefore = Math.max(history.notBefore(pod), seen);
    const width = widths.get(pod.group) ?? history.width(pod);
    if (notBefore > now || width <= 0) {
      if (notBefore > now) result.again = Math.min(notBefore, result.again ?? notBefore);
      passedOver(pod, { why: 'pause' });
      continue;
    }
    const wish = pod.claims.length === 0 ? nowhere : volumes(pod);
    if (wish === undefined) {
      result.unknown.volumes.push(pod);
      passedOver(pod, { why: 'volumes-unknown' });
      continue;
    }
    if (pod.neighbours.spread.length > 0 && room(pod.refused) === undefined) {
      result.unknown.rooms.push(pod.refused);
      passedOver(pod, { why: 'room-unknown', nodes: [pod.refused] });
      continue;
    }
    // the refused node is not among them: it takes the pod no more than it did
    const candidate = candidates.for(pod);
    const misfits: MisfitCounts = { ...candidate.misfits };
    const misfitHere = (node: NodeFacts): Misfit | undefined => {
      if (history.avoids(pod, node.name, () => look(node), now)) return 'ignored';
      if (!reachesVolumes(wish, node)) return 'volumes';
      return hopes.areVain(pod, node.name) ? 'neighbours' : undefined;
    };
    const open = candidate.nodes.filter((node) => {
      const misfit = misfitHere(node);
      if (misfit !== undefined) misfits[misfit] = (misfits[misfit] ?? 0) + 1;
      return misfit === undefined;
    });
    const found = sites.best(pod, open);
    if (found.unknown.length > 0) result.unknown.rooms.push(...found.unknown);
    if (found.site === undefined) {
      passedOver(
        pod,
        found.unknown.length > 0
          ? { why: 'room-unknown', nodes: found.unknown }
          : { why: 'no-node', misfits: { ...misfits, full: open.length } },
      );
      continue;
    }
    const { node, room: there } = found.site;
    if (there.at < seen) {
      result.unknown.rooms.push(node.name);
      passedOver(pod, { why: 'room-unknown', nodes: [node.name] });
      continue;
    }
    result.nominations.push({ pod, node: node.name, why: found.why, look: lookOf(node, there) });
    sites.add(found.site, pod);
    widths.set(pod.group, width - 1);
  }
  result.unknown.rooms = [...new Set(result.unknown.rooms)];
  return result;
}

const nowhere: VolumeWish = { affinities: [], selected: [] };

/** So long after a refusal, in milliseconds, the other pods that were made with this one have a node or wait as well. */
const settled = 1000;

/**
 * From when on it can be told which other pods are where, for a pod that wants to know: those of its controller are
 * made and bound at once. By a scheduler's clock; one that is ahead of ours tells nothing.
 */
function othersSeenFrom({ neighbours: { kind }, heldSince }: WaitingPod, now: number): number {
  if (kind === '' || heldSince === undefined || heldSince > now) {
    return Number.NEGATIVE_INFINITY;
  }
  return heldSince + settled;
}

/** Those that wait longest first. */
const byTime = (one: WaitingPod, other: WaitingPod): number =>
  (one.heldSince ?? 0) - (other.heldSince ?? 0) || (one.name < other.name ? -1 : 1);

type RefusedPod = WaitingPod & { refused: string };

const isRefused = (pod: WaitingPod): pod is RefusedPod => pod.refused !== undefined;

/** Why nothing has to be done, or can be, for a pod that was refused; undefined where it needs help. */
function needsNoHelp(
  pod: RefusedPod,
  { history, nodes, takes }: Known,
): 'leaving' | 'unwieldy' | 'under-way' | 'node-ready' | undefined {
  const { refused, leaving, unwieldy, profiles, nominated } = pod;
  if (leaving) return 'leaving';
  if (unwieldy) return 'unwieldy';
  if (history.isBusy(pod)) return 'under-way';
  if (takes(profiles, refused)) return 'node-ready';
  // a nomination of somebody else's, or of a leader before this one
  const mayComeTrue =
    nominated !== '' && nodes.some(({ name }) => name === nominated) && takes(profiles, nominated);
  return mayComeTrue ? 'under-way' : undefined;
}
