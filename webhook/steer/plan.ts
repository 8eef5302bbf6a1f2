import type { NodeFacts } from '../readiness/facts.ts';
import { zoneLabel } from '../scheduling/required.ts';
import type { Accepts } from './accepts.ts';
import { Candidates } from './candidates.ts';
import type { History } from './history.ts';
import { type Misfit, type MisfitCounts, misfitOf, type PassedOver } from './misfit.ts';
import { NodeScorer } from './node-scorer.ts';
import type { Expected, NodeUsage } from './node-usage.ts';
import type { PendingPod } from './pending-pod.ts';
import { inTurns, type Queue, Turns } from './turns.ts';
import { type Pausing, stepsPerNode, Work, withoutPauses } from './work.ts';

/** What a plan is made from. */
export interface Snapshot {
  nodes: readonly NodeFacts[];
  accepts: Accepts;
  /** Whether the gate lets one pod at a time through to a node that accepts it. By default to none. */
  isTrial?: Accepts;
  /** The usage of a node; undefined where it is not known. */
  usage: (node: string) => NodeUsage | undefined;
  history: History;
  /** The index of the node to begin with: see {@link Candidates}. */
  start: number;
  /** Milliseconds since the epoch. */
  now: number;
  /** Called for each waiting pod for which no node is nominated. */
  passedOver?: (pod: PendingPod, why: PassedOver) => void;
}

/** A node for a pod. */
export interface Nomination {
  pod: PendingPod;
  node: string;
  /** Why this node, for people. */
  why: string;
}

/** The result of {@link planning}. */
export interface Plan {
  nominations: Nomination[];
  /** Names of nodes whose usage is needed for more or better nominations. */
  unknown: string[];
  /** When the first pause of a pod or group ends, milliseconds since the epoch; undefined where none pauses. */
  again: number | undefined;
  /** How far it came, for {@link Turns.done}. */
  queues: Queue[];
  /** Whether the budget was spent before all pods had their turn. */
  isCut: boolean;
}

/** The bounds of a plan. */
export interface Bounds {
  /** The largest number of nominations. */
  max: number;
  /** Steps after which no further pod has its turn. */
  budget: number;
  /** Counts the steps, and says when a pause is due. */
  work: Work;
  /** The order in which pods have their turn. */
  turns: Turns;
}

/**
 * Makes a plan without pauses and without a budget: see {@link planning}.
 *
 * @param max the largest number of nominations
 */
export function plan(pods: Iterable<PendingPod>, known: Snapshot, max: number): Plan {
  const bounds = { max, budget: Number.POSITIVE_INFINITY, work: new Work(), turns: new Turns() };
  return withoutPauses(planning(pods, known, bounds));
}

/**
 * Chooses nodes for pods that the gate refused: nodes that accept the pod, fit it and have free capacity, and of these
 * the one with the fewest pods of the same controller, then the emptiest. It passes over a pod
 * - whose refused node accepts it now: the next attempt works;
 * - with a nomination that may still work, by cni-gate or by somebody else, as after a preemption;
 * - that pauses, or whose group does: see {@link History}.
 *
 * A node to which the gate lets one pod at a time through has one place.
 *
 * It yields where a pause is due. The cluster may change during the pauses, so each nomination has to be checked
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
  readonly #nodes: ReadonlyMap<string, NodeFacts>;
  readonly #candidates: Candidates;
  readonly #scorer: NodeScorer;
  /** How many more of a group may be nominated. */
  readonly #widths = new Map<string, number>();
  readonly #unknown = new Set<string>();
  /** Nodes for which a pod is nominated that still waits. */
  readonly #awaited: Set<string>;
  #again: number | undefined;

  constructor(known: Snapshot, work: Work) {
    this.#known = known;
    this.#work = work;
    this.#nodes = new Map(known.nodes.map((node) => [node.name, node]));
    this.#candidates = new Candidates(known.nodes, known.accepts, known.start, work);
    const expected = known.history.expected();
    this.#scorer = new NodeScorer(known.usage, expected);
    const isAwaited = ([, pods]: [string, Expected[]]): boolean =>
      pods.some((pod) => pod.leftAt === undefined);
    this.#awaited = new Set([...expected].filter(isAwaited).map(([name]) => name));
  }

  result(): Pick<Plan, 'nominations' | 'unknown' | 'again'> {
    return { nominations: this.nominations, unknown: [...this.#unknown], again: this.#again };
  }

  /** Nominates a node for the pod, or says why not. */
  *judge(pod: RefusedPod): Pausing<void> {
    const { history, now } = this.#known;
    const why = this.#needsNoNode(pod);
    if (why !== undefined) return this.#passOver(pod, { why });
    const notBefore = history.notBefore(pod);
    const width = this.#widths.get(pod.group) ?? history.width(pod);
    if (notBefore > now || width <= 0) {
      if (notBefore > now) this.#again = Math.min(notBefore, this.#again ?? notBefore);
      return this.#passOver(pod, { why: 'pause' });
    }
    // the refused node is not among them, as it does not accept the pod
    const candidates = yield* this.#candidates.for(pod);
    const misfits: MisfitCounts = { ...candidates.misfits };
    const open: NodeFacts[] = [];
    for (const node of candidates.nodes) {
      if (this.#work.spend(stepsPerNode(pod))) yield;
      const misfit = this.#misfitOfOne(pod, node);
      if (misfit === undefined) open.push(node);
      else misfits[misfit] = (misfits[misfit] ?? 0) + 1;
    }
    const { best, unknown } = this.#scorer.best(pod, open);
    for (const name of unknown) this.#unknown.add(name);
    if (best === undefined) {
      if (unknown.length > 0) return this.#passOver(pod, { why: 'usage-unknown', nodes: unknown });
      return this.#passOver(pod, {
        why: 'no-node',
        misfits: { ...misfits, full: (misfits.full ?? 0) + open.length },
      });
    }
    this.nominations.push({ pod, node: best.node.name, why: best.why });
    this.#scorer.add(best.node, pod);
    this.#awaited.add(best.node.name);
    this.#widths.set(pod.group, width - 1);
  }

  /** Why nothing has to be done, or can be done, for a refused pod; undefined where it needs a node. */
  #needsNoNode(pod: RefusedPod): 'leaving' | 'too-large' | 'under-way' | 'node-ready' | undefined {
    const { history, accepts } = this.#known;
    const { refused, leaving, tooLarge, profiles, nominated } = pod;
    if (leaving) return 'leaving';
    if (tooLarge) return 'too-large';
    if (history.isBusy(pod)) return 'under-way';
    if (accepts(profiles, refused)) return 'node-ready';
    // a nomination by somebody else, or by the leader before
    const mayWork = nominated !== '' && this.#nodes.has(nominated) && accepts(profiles, nominated);
    return mayWork ? 'under-way' : undefined;
  }

  /** Why this pod is not sent to a node that fits pods of its kind. */
  #misfitOfOne(pod: RefusedPod, node: NodeFacts): Misfit | undefined {
    const { history, now } = this.#known;
    if (history.avoids(pod, node.name, now)) return 'ignored';
    // the gate would refuse the second pod
    if (this.#awaited.has(node.name) && this.#known.isTrial?.(pod.profiles, node.name) === true)
      return 'full';
    // the scheduler chose the refused node, so the volumes can be used in its zone
    const zone = pod.hasVolumes ? this.#nodes.get(pod.refused)?.labels[zoneLabel] : undefined;
    return zone !== undefined && node.labels[zoneLabel] !== zone ? 'volumes' : undefined;
  }

  #passOver(pod: PendingPod, why: PassedOver): void {
    this.#known.passedOver?.(pod, why);
  }
}

type RefusedPod = PendingPod & { refused: string };

const isRefused = (pod: PendingPod): pod is RefusedPod => pod.refused !== undefined;

/** What is known when a nomination is about to be written. */
export interface Latest {
  /** The pod; undefined where it no longer waits. */
  pod: PendingPod | undefined;
  /** The nominated node; undefined where it is gone. */
  node: NodeFacts | undefined;
  accepts: Accepts;
}

/** Whether a nomination must not be written, because the pod, its node or its refused node changed since planning. */
export function isOutdated(
  { pod }: Pick<Nomination, 'pod'>,
  { pod: latest, node, accepts }: Latest,
): boolean {
  if (latest === undefined || latest.version !== pod.version || latest.refused === undefined) return true;
  if (node === undefined || !accepts(latest.profiles, node.name)) return true;
  return misfitOf(latest, node) !== undefined || accepts(latest.profiles, latest.refused);
}
