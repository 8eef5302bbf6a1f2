import type { NodeFacts } from '../readiness/facts.ts';
import { type Accepts, Candidates } from './candidates.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { History } from './history.ts';
import { memoize } from './memoize.ts';
import type { Misfit, MisfitCounts } from './misfit.ts';
import { NeighbourConstraints } from './neighbour-constraints.ts';
import { NodeScorer } from './node-scorer.ts';
import type { NodeUsage } from './node-usage.ts';
import type { PassedOver } from './passed-over.ts';
import type { PendingPod } from './pending-pod.ts';
import { inTurns, type Queue, Turns } from './turns.ts';
import { reachesVolumes, type VolumeConstraints } from './volumes.ts';
import { type Pausing, stepsFor, stepsPerNode, Work, withoutPauses } from './work.ts';

/** What a plan is made from. */
export interface Snapshot {
  nodes: readonly NodeFacts[];
  accepts: Accepts;
  /** What is taken of a node; undefined where that is not known. */
  usage: (node: string) => NodeUsage | undefined;
  /** Where a pod's volumes can be used; undefined where that is not known. */
  volumes: (pod: PendingPod) => VolumeConstraints | undefined;
  history: History;
  /** Where in the nodes to begin: see {@link Candidates}. */
  start: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** Told of each pod that waits for a node and is nominated nowhere. */
  passedOver?: (pod: PendingPod, why: PassedOver) => void;
}

export interface Nomination {
  pod: PendingPod;
  node: string;
  /** Why this node, for people. */
  why: string;
  /** How the node looked: {@link fingerprintOf}. */
  fingerprint: string;
}

export interface Plan {
  nominations: Nomination[];
  /** What would have to be known for more, or better ones: names of nodes, and pods whose volumes matter. */
  unknown: { usages: string[]; volumes: PendingPod[] };
  /** When a pause ends that now keeps a pod from being nominated, milliseconds since the epoch. */
  again: number | undefined;
  /** How far it came, for {@link Turns.done}. */
  queues: Queue[];
  /** Whether the budget was spent before all pods had their turn. */
  isCut: boolean;
}

/** What bounds a plan. */
export interface Bounds {
  /** How many nominations at most. */
  max: number;
  /** Steps after which no further pod has its turn. */
  budget: number;
  /** Counts the steps, and says when a pause is due. */
  work: Work;
  /** In which order pods have their turn. */
  turns: Turns;
}

/**
 * Makes a plan in one go, whatever it costs: see {@link planning}.
 *
 * @param max how many nominations at most
 */
export function plan(pods: Iterable<PendingPod>, known: Snapshot, max: number): Plan {
  const bounds = { max, budget: Number.POSITIVE_INFINITY, work: new Work(), turns: new Turns() };
  return withoutPauses(planning(pods, known, bounds));
}

/**
 * Which pods to send where: pods that were refused by us go to a node that takes them and has room, to the one with
 * the fewest pods of the same controller, then to the emptiest. Nothing is done about a pod
 * - whose refused node takes it by now: its next try will do;
 * - that has a nomination which may still come true, ours or somebody else's, such as one for which other pods were
 *   preempted;
 * - that pauses, or whose group does: see {@link History}.
 *
 * It yields where a pause is due. What `known` says may change in the pauses, so each nomination has to be checked
 * before it is written: {@link isOutdated}.
 */
export function* planning(
  pods: Iterable<PendingPod>,
  known: Snapshot,
  { max, budget, work, turns }: Bounds,
): Pausing<Plan> {
  const queues = turns.order([...pods].filter(isRefused));
  const planner = new Planner(known, work);
  if (max > 0) {
    for (const pod of inTurns(queues, work, budget)) {
      if (work.spend(1)) yield;
      yield* planner.judge(pod);
      if (planner.nominations.length >= max) break;
    }
  }
  const isLeft = queues.some(({ pods: all, taken }) => taken < all.length);
  return { ...planner.result(), queues, isCut: isLeft && planner.nominations.length < max };
}

/** One plan in the making. */
class Planner {
  readonly nominations: Nomination[] = [];
  readonly #known: Snapshot;
  readonly #work: Work;
  readonly #passedOver: (pod: PendingPod, why: PassedOver) => void;
  readonly #usage: (node: string) => NodeUsage | undefined;
  readonly #fingerprint: (node: NodeFacts) => string | undefined;
  readonly #names: ReadonlySet<string>;
  readonly #candidates: Candidates;
  readonly #constraints: NeighbourConstraints;
  readonly #scorer: NodeScorer;
  readonly #widths = new Map<string, number>();
  readonly #usages = new Set<string>();
  readonly #volumes: PendingPod[] = [];
  #again: number | undefined;

  constructor(known: Snapshot, work: Work) {
    this.#known = known;
    this.#work = work;
    this.#passedOver = known.passedOver ?? (() => {});
    // what is known of a node may become too old while this is made
    const usage = memoize(known.usage);
    this.#usage = usage;
    this.#fingerprint = memoize((node: NodeFacts) => {
      const there = usage(node.name);
      return there && fingerprintOf(node, there);
    });
    this.#names = new Set(known.nodes.map(({ name }) => name));
    this.#candidates = new Candidates(known.nodes, known.accepts, known.start, work);
    this.#constraints = new NeighbourConstraints((node) => usage(node)?.pods, work);
    this.#scorer = new NodeScorer(usage, known.history.expected());
  }

  result(): Pick<Plan, 'nominations' | 'unknown' | 'again'> {
    const unknown = { usages: [...this.#usages], volumes: this.#volumes };
    return { nominations: this.nominations, unknown, again: this.#again };
  }

  /** Nominates a node for the pod, or says why not. */
  *judge(pod: RefusedPod): Pausing<void> {
    const { history, now, volumes } = this.#known;
    const settledBy = needsNoHelp(pod, this.#known, this.#names);
    if (settledBy !== undefined) return this.#passedOver(pod, { why: settledBy });
    const seen = othersAfter(pod, now);
    const notBefore = Math.max(history.notBefore(pod), seen);
    const width = this.#widths.get(pod.group) ?? history.width(pod);
    if (notBefore > now || width <= 0) {
      if (notBefore > now) this.#again = Math.min(notBefore, this.#again ?? notBefore);
      return this.#passedOver(pod, { why: 'pause' });
    }
    const constraints = pod.claims.length === 0 ? nowhere : volumes(pod);
    if (constraints === undefined) {
      this.#volumes.push(pod);
      return this.#passedOver(pod, { why: 'volumes-unknown' });
    }
    if (pod.neighbours.spread.length > 0 && this.#usage(pod.refused) === undefined) {
      return this.#lacksUsages(pod, [pod.refused]);
    }
    // the refused node is not among them: it takes the pod no more than it did
    const candidate = yield* this.#candidates.for(pod);
    const misfits: MisfitCounts = { ...candidate.misfits };
    const steps = stepsPerNode(pod) + stepsForVolumes(constraints);
    const open: NodeFacts[] = [];
    for (const node of candidate.nodes) {
      if (this.#work.spend(steps)) yield;
      const misfit = this.#misfitHere(pod, constraints, node);
      if (misfit === undefined) open.push(node);
      else misfits[misfit] = (misfits[misfit] ?? 0) + 1;
    }
    const found = this.#scorer.best(pod, open);
    for (const name of found.unknown) this.#usages.add(name);
    if (found.scored === undefined) {
      if (found.unknown.length > 0) return this.#lacksUsages(pod, found.unknown);
      return this.#passedOver(pod, { why: 'no-node', misfits: { ...misfits, full: open.length } });
    }
    const { node, usage } = found.scored;
    if (usage.at < seen) return this.#lacksUsages(pod, [node.name]);
    this.nominations.push({ pod, node: node.name, why: found.why, fingerprint: fingerprintOf(node, usage) });
    this.#scorer.add(found.scored, pod);
    this.#widths.set(pod.group, width - 1);
  }

  #misfitHere(pod: RefusedPod, constraints: VolumeConstraints, node: NodeFacts): Misfit | undefined {
    const { history, now } = this.#known;
    if (history.avoids(pod, node.name, () => this.#fingerprint(node), now)) return 'ignored';
    if (!reachesVolumes(constraints, node)) return 'volumes';
    return this.#constraints.areUnsatisfiable(pod, node.name) ? 'neighbours' : undefined;
  }

  #lacksUsages(pod: PendingPod, nodes: readonly string[]): void {
    for (const name of nodes) this.#usages.add(name);
    this.#passedOver(pod, { why: 'usage-unknown', nodes });
  }
}

const nowhere: VolumeConstraints = { affinities: [], selected: [] };

/** Steps for comparing what volumes ask for with one node. */
const stepsForVolumes = (constraints: VolumeConstraints): number =>
  constraints === nowhere ? 0 : stepsFor(JSON.stringify(constraints));

/** So long after a refusal, in milliseconds, the other pods that were made with this one have a node or wait as well. */
const settled = 1000;

/**
 * From when on it can be told which other pods are where, for a pod that wants to know: those of its controller are
 * made and bound at once. By a scheduler's clock; one that is ahead of ours tells nothing.
 */
function othersAfter({ neighbours: { kind }, heldSince }: PendingPod, now: number): number {
  if (kind === '' || heldSince === undefined || heldSince > now) {
    return Number.NEGATIVE_INFINITY;
  }
  return heldSince + settled;
}

type RefusedPod = PendingPod & { refused: string };

const isRefused = (pod: PendingPod): pod is RefusedPod => pod.refused !== undefined;

/** Why nothing has to be done, or can be, for a pod that was refused; undefined where it needs help. */
function needsNoHelp(
  pod: RefusedPod,
  { history, accepts }: Snapshot,
  nodes: ReadonlySet<string>,
): 'leaving' | 'too-large' | 'under-way' | 'node-ready' | undefined {
  const { refused, leaving, tooLarge, profiles, nominated } = pod;
  if (leaving) return 'leaving';
  if (tooLarge) return 'too-large';
  if (history.isBusy(pod)) return 'under-way';
  if (accepts(profiles, refused)) return 'node-ready';
  // a nomination of somebody else's, or of a leader before this one
  const mayComeTrue = nominated !== '' && nodes.has(nominated) && accepts(profiles, nominated);
  return mayComeTrue ? 'under-way' : undefined;
}
