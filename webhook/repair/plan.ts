import type { PodEvidence } from '../evidence/facts.ts';
import { repairLimits } from '../lib/limits.ts';
import { type Pausing, Work, withoutPauses } from '../steer/work.ts';
import { First } from './first.ts';
import type { RepairHistory } from './history.ts';
import { type Helped, helps, type Left, type Owned, type Situation, suits } from './judge.ts';
import { isBoundToNode, isOrdered, ordinalOf } from './owners.ts';
import type { NodeForProfile, RepairPlan, RepairSnapshot, Room } from './types.ts';

/**
 * {@link planningRepair} without pauses.
 *
 * @param now milliseconds of a monotonic clock, as for all of the history
 * @param max the largest number of recreations
 */
export function planRepair(
  known: RepairSnapshot,
  history: RepairHistory,
  now: number,
  max = Number.POSITIVE_INFINITY,
): RepairPlan {
  return withoutPauses(planningRepair(known, history, now, max, new Work()));
}

/**
 * Chooses the failed pods that are recreated now: only those that a controller replaces, only where it helps, and within
 * all budgets and pauses. Namespaces take turns. In each, controllers whose recreated pods did not fail again come
 * first, then the oldest pods; pods of a StatefulSet come one after the other, by their ordinals.
 *
 * It yields where a pause is due. The cluster may change during the pauses, and no deletion may hit another pod than the
 * one that failed: delete with preconditions on UID and resource version. {@link RepairHistory} has to hear of each
 * recreation before the next plan, and {@link RepairHistory.observe} is called before each plan.
 */
export function* planningRepair(
  known: RepairSnapshot,
  history: RepairHistory,
  now: number,
  max: number,
  work: Work,
): Pausing<RepairPlan> {
  const planner = new Planner(known, history, now);
  for (const pod of known.failed) {
    if (work.spend(1)) yield;
    yield* planner.look(pod);
  }
  for (const candidate of yield* planner.inTurns(work)) {
    if (work.spend(1)) yield;
    planner.take(candidate, max);
  }
  return planner.plan;
}

/** One plan in the making. */
class Planner {
  readonly plan: RepairPlan = { recreations: [], again: undefined };
  readonly #known: RepairSnapshot;
  readonly #history: RepairHistory;
  readonly #now: number;
  /** By node and profile. */
  readonly #nodes = new Map<string, NodeForProfile>();
  /** By namespace. */
  readonly #candidates = new Map<string, First<Helped>>();
  /** The first pod of each StatefulSet. */
  readonly #firstOf = new Map<string, Helped>();
  readonly #probed: ReadonlySet<string>;
  /** What this plan takes of each budget, turn and attempt. */
  readonly #taken = new Map<string, number>();

  constructor(known: RepairSnapshot, history: RepairHistory, now: number) {
    this.#known = known;
    this.#history = history;
    this.#probed = history.probed();
    this.#now = now;
  }

  /** Judges a pod by itself. */
  *look(pod: PodEvidence): Pausing<void> {
    if (pod.verdict !== 'failed') return;
    const judged = yield* this.#judge(pod);
    if ('reason' in judged) this.#leave(pod, judged);
    else if (isOrdered(judged.pod.controller)) this.#keepFirst(judged);
    else this.#add(judged);
  }

  /** The candidates of all namespaces, in the order of their turns. */
  *inTurns(work: Work): Pausing<readonly Helped[]> {
    for (const helped of this.#firstOf.values()) {
      if (work.spend(1)) yield;
      this.#add(helped);
    }
    const turns = new First<{ turn: number; helped: Helped }>(
      repairLimits.candidates,
      (one, other) =>
        one.turn - other.turn ||
        this.#failureOfNamespace(one.helped) - this.#failureOfNamespace(other.helped) ||
        this.#compare(one.helped, other.helped),
    );
    for (const [namespace, candidates] of this.#candidates) {
      const had = this.#history.recentOf(namespace, this.#now);
      for (const [index, helped] of candidates.sorted().entries()) {
        if (work.spend(1)) yield;
        turns.add({ turn: had + index, helped });
      }
    }
    return turns.sorted().map(({ helped }) => helped);
  }

  /** Recreates the pod if there is still room. */
  take(helped: Helped, max: number): void {
    const { pod, how, why } = helped;
    const isFull = this.plan.recreations.length >= max;
    const left = isFull ? ({ reason: 'budget', why: '' } as const) : this.#shut(helped);
    if (left !== undefined) {
      this.#leave(pod, left);
      return;
    }
    for (const { key } of this.#rooms(helped)) this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
    this.plan.recreations.push({ pod, how, why, probes: probes(helped) });
  }

  *#judge(pod: PodEvidence): Pausing<Helped | Left> {
    const suitable = suits(pod, this.#known.budgets);
    if ('reason' in suitable) return suitable;
    if (this.#history.isBusy(pod, this.#now)) return { reason: 'under-way', why: '' };
    const helped = helps(suitable, yield* this.#situation(suitable.pod));
    return 'reason' in helped ? helped : (this.#shut(helped) ?? helped);
  }

  /** Why there is no room for the pod; undefined where there is. */
  #shut(helped: Helped): Left | undefined {
    for (const { key, room } of this.#rooms(helped)) {
      if (room.count - (this.#taken.get(key) ?? 0) > 0) continue;
      const { reason, again } = room;
      if (again !== undefined && again > this.#now) {
        this.plan.again = Math.min(again, this.plan.again ?? again);
      }
      return { reason, why: '' };
    }
    return undefined;
  }

  /** All that limits the recreation of a pod. A key stands for what this plan takes of it. */
  *#rooms(helped: Helped): Generator<{ key: string; room: Room }> {
    const { pod, networks, elsewhere, proven } = helped;
    const { namespace, node, failedProfiles, controller, owner } = pod;
    const [history, now, budgets] = [this.#history, this.#now, this.#known.budgets];
    yield { key: 'cluster/breaker', room: history.breaker.room(now) };
    const breaker = history.breakerOf(namespace);
    if (breaker) yield { key: `breaker/${namespace}`, room: breaker.room(now) };
    const chance = { proven, elsewhere, ordered: isOrdered(controller) };
    const isCounted = history.isCounted(pod, now);
    const perOwner = isCounted ? Number.POSITIVE_INFINITY : budgets.perOwnerPerMinute;
    const ofOwner = history.owner(owner).room(now, perOwner, chance);
    yield { key: `owner/${owner}`, room: ofOwner };
    for (const { profile, known } of probes(helped) ? networks : []) {
      if (known.state !== 'unproved' || !failedProfiles.includes(profile)) continue;
      // the gate decides whose turn it is, and it does not know yet of a pod that was deleted a moment ago
      const count = known.turn && !this.#probed.has(`${node}/${profile}`) ? 1 : 0;
      yield { key: `proof/${node}/${profile}`, room: { count, reason: 'node-to-prove', again: undefined } };
    }
    if (isCounted) return;
    yield { key: `node/${node}`, room: history.roomOfNode(node, budgets.perNodePerMinute, now) };
    yield { key: 'cluster', room: history.roomOfCluster(budgets.perMinute, now) };
  }

  /** Of a StatefulSet's pods, only the first one is a candidate. */
  #keepFirst(helped: Helped): void {
    const { owner } = helped.pod;
    const first = this.#firstOf.get(owner);
    const isFirst = first === undefined || ordinalOf(helped.pod) < ordinalOf(first.pod);
    if (isFirst) this.#firstOf.set(owner, helped);
    const later = isFirst ? first : helped;
    if (later !== undefined) this.#leave(later.pod, { reason: 'owner-turn', why: '' });
  }

  #add(helped: Helped): void {
    const { namespace } = helped.pod;
    const known = this.#candidates.get(namespace);
    const candidates = known ?? new First(repairLimits.candidates, this.#compare);
    if (known === undefined) this.#candidates.set(namespace, candidates);
    candidates.add(helped);
  }

  readonly #compare = (one: Helped, other: Helped): number =>
    this.#failure(one) - this.#failure(other) ||
    one.pod.createdAt - other.pod.createdAt ||
    (one.pod.uid < other.pod.uid ? -1 : 1);

  #failure({ pod }: Helped): number {
    return this.#history.lastFailures.ofOwner(pod);
  }

  #failureOfNamespace({ pod }: Helped): number {
    return this.#history.lastFailures.ofNamespace(pod);
  }

  *#situation(pod: Owned): Pausing<Situation> {
    const { node, profiles, controller } = pod;
    const networks = profiles.map((profile) => ({ profile, known: this.#node(node, profile) }));
    const elsewhere = !isBoundToNode(controller) && this.#known.elsewhere(pod);
    return { networks, elsewhere: typeof elsewhere === 'boolean' ? elsewhere : yield* elsewhere };
  }

  #node(node: string, profile: string): NodeForProfile {
    const key = `${node}/${profile}`;
    const found = this.#nodes.get(key) ?? this.#known.node(node, profile);
    this.#nodes.set(key, found);
    return found;
  }

  #leave(pod: PodEvidence, left: Left): void {
    this.#known.leftAlone?.({ pod, ...left });
  }
}

/** Whether the pod finds out if its node works. */
const probes = ({ moves, proven }: Helped): boolean => !moves && !proven;
