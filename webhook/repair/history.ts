import type { PodEvidence } from '../evidence/facts.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { repairLimits } from '../lib/limits.ts';
import { AskedPods } from './asked.ts';
import { type Attempt, type Ended, type Outcome, outcomeOf, takeReplaced } from './attempt.ts';
import { Breaker } from './breaker.ts';
import { LastFailures } from './last-failures.ts';
import { OwnerRecord } from './owner-record.ts';
import type { KnownPods, Recreation, Room } from './types.ts';
import { minute, Window } from './window.ts';

/** Of controllers of which nothing is known. It is only read. */
const newOwner = new OwnerRecord();

/**
 * The leader's memory of recreations and of what became of them. Pure: `now` is milliseconds of a monotonic clock, so
 * that a jump of the time of day changes nothing. A new leader begins with an empty one.
 */
export class RepairHistory {
  readonly lastMinute = new Window(minute);
  /** Stops all repair. */
  readonly breaker = new Breaker(repairLimits.breaker.ofNamespace);
  readonly lastFailures = new LastFailures();
  readonly #owners = new Map<string, OwnerRecord>();
  readonly #nodeMinutes = new Map<string, Window>();
  readonly #namespaceMinutes = new Map<string, Window>();
  readonly #breakers = new Map<string, Breaker>();
  readonly #asked = new AskedPods();

  /**
   * The executor recreated the pod: its deletion was accepted. Call it before the watch reports the pod that replaces it.
   *
   * @param pods as they were before the deletion
   */
  made(recreation: Recreation, pods: Pick<KnownPods, 'ownedBy'>, now: number): void {
    const { pod } = recreation;
    if (!this.isCounted(pod, now)) this.#count(pod, now);
    this.#asked.made(pod);
    if (pod.controller === undefined) return;
    const owner = this.#makeOwner(pod.owner);
    if (owner.attempts.length === 0) {
      owner.known = new Set(Array.from(pods.ownedBy(pod.owner), ({ uid }) => uid));
    }
    owner.known.add(pod.uid);
    owner.made({ recreation, at: now, late: false }, now);
    const { lastFailures } = this;
    this.breaker.made(pod, now, lastFailures.ofNamespace(pod) === 0);
    this.#breakers.get(pod.namespace)?.made(pod, now, lastFailures.ofOwner(pod) === 0);
  }

  /** Audit: the pod would have been recreated. It counts for the budgets, and nothing is expected of it. */
  audited({ pod }: Pick<Recreation, 'pod'>, now: number): void {
    this.#count(pod, now);
    this.#asked.made(pod);
  }

  /** The API server knows a newer version of the pod: nothing is done until the watch reports it. */
  stale(pod: PodEvidence): void {
    this.#asked.stale(pod);
  }

  /** A pod that was released before is deleted: it is not asked for again. */
  finished(pod: PodEvidence): void {
    this.#asked.made(pod);
  }

  /**
   * Nobody knows whether the pod was deleted: there was no answer. It counts for the budgets, once in a minute. If the
   * watch reports that the pod is gone, {@link observe} takes it for made. Until then it may be asked for again, which
   * does no harm: a deletion names the UID and the version of the pod.
   *
   * @param pods as they were before the deletion
   */
  unanswered(recreation: Recreation, pods: Pick<KnownPods, 'ownedBy'>, now: number): void {
    if (this.isCounted(recreation.pod, now)) return;
    this.#count(recreation.pod, now);
    this.#asked.unanswered({ recreation, before: pods }, now);
  }

  /** Whether a deletion of the pod without an answer counts for the budgets: it may be repeated whatever they say. */
  isCounted(pod: Pick<PodEvidence, 'uid'>, now: number): boolean {
    return this.#asked.isCounted(pod, now);
  }

  /** The pod could not be recreated: it pauses. */
  failed(pod: PodEvidence, now: number): void {
    this.#asked.failed(pod, now);
  }

  /**
   * Finds out what became of recreations. Call it before each plan.
   *
   * @returns the recreations whose outcome is known now
   */
  observe(pods: KnownPods, now: number): Ended[] {
    const ended: Ended[] = [];
    for (const { recreation, before } of this.#asked.settled(pods)) this.made(recreation, before, now);
    for (const [key, owner] of this.#owners) {
      if (owner.attempts.length === 0) continue;
      for (const pod of pods.ownedBy(key)) ended.push(...this.#endedBy(owner, pod, now));
      ended.push(...this.#overdue(owner, now));
    }
    this.#asked.forget(pods);
    this.#forget(now);
    return ended;
  }

  /** Whether the pod is not to be asked for: it was recreated, could not be, or a newer version is to be reported. */
  isBusy(pod: PodEvidence, now: number): boolean {
    return this.#asked.isBusy(pod, now);
  }

  /** What is known of an owner: to read. @param key `PodEvidence.owner` */
  owner(key: string): Pick<OwnerRecord, 'room'> {
    return this.#owners.get(key) ?? newOwner;
  }

  /**
   * Where the verdict is expected of a pod that was recreated to find out if a profile's network works on a node.
   *
   * @returns `node/profile` of each
   */
  probed(): Set<string> {
    const found = new Set<string>();
    for (const { attempts } of this.#owners.values()) {
      for (const { recreation, late } of attempts) {
        const { node, failedProfiles } = recreation.pod;
        if (recreation.probes && !late) for (const profile of failedProfiles) found.add(`${node}/${profile}`);
      }
    }
    return found;
  }

  /** How many more pods of this node may be recreated now. @param perMinute the budget */
  roomOfNode(node: string, perMinute: number, now: number): Room {
    const window = this.#nodeMinutes.get(node);
    return {
      count: perMinute - (window?.count(now) ?? 0),
      reason: 'budget',
      again: window?.opensAt(perMinute, now),
    };
  }

  /** How many more pods may be recreated now, of all. @param perMinute the budget */
  roomOfCluster(perMinute: number, now: number): Room {
    const { lastMinute } = this;
    return {
      count: perMinute - lastMinute.count(now),
      reason: 'budget',
      again: lastMinute.opensAt(perMinute, now),
    };
  }

  /** How many pods of a namespace were recreated in the last minute. */
  recentOf(namespace: string, now: number): number {
    return this.#namespaceMinutes.get(namespace)?.count(now) ?? 0;
  }

  /** Stops repair in one namespace; undefined where no pod of it has had a verdict lately. */
  breakerOf(namespace: string): Breaker | undefined {
    return this.#breakers.get(namespace);
  }

  /** Ends stops that no pod waits for any more. @param namespaces those of failed pods that could be recreated */
  needed(namespaces: ReadonlySet<string>, now: number): void {
    this.breaker.need(namespaces.size > 0, now);
    for (const [name, breaker] of this.#breakers) breaker.need(namespaces.has(name), now);
  }

  /** The namespaces in which repair has stopped, and an empty name where all repair has. */
  stopped(): string[] {
    const namespaces = [...this.#breakers].filter(([, { isOpen }]) => isOpen).map(([name]) => name);
    return this.breaker.isOpen ? ['', ...namespaces] : namespaces;
  }

  #count({ node, namespace, owner }: PodEvidence, now: number): void {
    this.lastMinute.add(now);
    this.#makeOwner(owner).lastMinute.add(now);
    getOrMake(this.#nodeMinutes, node, () => new Window(minute)).add(now);
    getOrMake(this.#namespaceMinutes, namespace, () => new Window(minute)).add(now);
  }

  /** The attempt that ended with this pod's verdict, if the pod is new and has one. */
  #endedBy(owner: OwnerRecord, pod: PodEvidence, now: number): Ended[] {
    if (owner.known.has(pod.uid) || owner.attempts.length === 0) return [];
    const outcome = outcomeOf(pod);
    if (outcome === undefined) return [];
    owner.known.add(pod.uid);
    const attempt = takeReplaced(owner.attempts, pod);
    if (attempt === undefined) return [];
    if (outcome !== 'unknown') this.#learn(owner, attempt, outcome, now);
    return [{ recreation: attempt.recreation, outcome, successor: pod }];
  }

  #learn(owner: OwnerRecord, { recreation: { pod }, at }: Attempt, outcome: Outcome, now: number): void {
    const passed = outcome === 'passed';
    if (passed) {
      owner.worked(now);
      this.lastFailures.worked(pod);
    } else {
      owner.failed(at, now);
      this.lastFailures.failed(pod, now);
    }
    this.breaker.ended(pod, passed, now);
    getOrMake(this.#breakers, pod.namespace, () => new Breaker()).ended(pod, passed, now);
  }

  /** Verdicts that take too long: others wait no longer for them, but for a pause. */
  #overdue(owner: OwnerRecord, now: number): Ended[] {
    for (const attempt of owner.attempts) {
      if (attempt.late || now - attempt.at < repairLimits.verdict) continue;
      attempt.late = true;
      owner.backOff.failed(now);
      this.lastFailures.failed(attempt.recreation.pod, now);
    }
    const isOver = ({ at }: Attempt): boolean => now - at >= repairLimits.lateVerdict;
    const over = owner.attempts.filter(isOver);
    owner.attempts = owner.attempts.filter((attempt) => !isOver(attempt));
    return over.map(({ recreation }) => ({ recreation, outcome: 'unknown', successor: undefined }));
  }

  #forget(now: number): void {
    const windows = [this.#nodeMinutes, this.#namespaceMinutes];
    for (const map of windows) for (const [key, window] of map) if (window.count(now) === 0) map.delete(key);
    for (const map of [this.#owners, this.#breakers])
      for (const [key, record] of map as Map<string, OwnerRecord | Breaker>)
        if (record.isIdle(now)) map.delete(key);
  }

  #makeOwner(key: string): OwnerRecord {
    return getOrMake(this.#owners, key, () => new OwnerRecord());
  }
}
