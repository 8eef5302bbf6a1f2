import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceChange } from '../../core/networks/evidence.ts';
import type { RepairSettings } from '../../core/profiles/types.ts';
import { repairLimits } from '../../lib/limits.ts';
import { getOrMake } from '../../lib/maps.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import { Breaker } from './breaker.ts';
import { ordinalOf, type Skipped, type Turn } from './decide.ts';

/** The verdict of the pod that replaced a deleted pod. `unknown`: no verdict came, or it is not about the network. */
export type Outcome = 'passed' | 'failed' | 'unknown';

const { pause, longestPause, verdict: longest, breaker } = repairLimits;

/** After more failures than this, even a pod that moves to another node has to wait: the pod may be the cause. */
const mostMoves = 2;

type Budgets = Pick<RepairSettings, 'perNodePerMinute' | 'perOwnerPerMinute' | 'perMinute'>;

class Owner {
  readonly namespace: string;
  /** Recreations without an outcome, by the UID of the deleted pod, the oldest first. */
  readonly attempts = new Map<string, { at: number; ordinal: number }>();
  /** UIDs of pods that were created since the first attempt and have no verdict yet. A late success counts too. */
  readonly successors = new Set<string>();
  /** The last verdict of a successor. After a success, all failed pods of the controller may be recreated. */
  last: { passed: boolean; at: number } | undefined;
  failures = 0;
  retryAt = Number.NEGATIVE_INFINITY;

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** Whether it is the pod's turn. One pod of the controller is tried before its other pods. */
  hasTurn(uid: string, { proven, ordinal }: Turn): boolean {
    if (ordinal !== undefined)
      return ![...this.attempts.values()].some((attempt) => attempt.ordinal < ordinal);
    // a pod does not wait for itself
    const others = this.attempts.size - (this.attempts.has(uid) ? 1 : 0);
    return others === 0 || this.last?.passed || (proven && this.failures === 0);
  }

  succeeded(now: number): void {
    this.last = { passed: true, at: now };
    this.failures = 0;
    this.retryAt = Number.NEGATIVE_INFINITY;
  }

  /** Failures during a pause do not prolong the pause, because their attempts began before it. */
  failed(now: number): void {
    this.last = undefined;
    if (now < this.retryAt) return;
    this.retryAt = now + Math.min(pause * 2 ** this.failures, longestPause);
    this.failures += 1;
  }

  isIdle(now: number): boolean {
    const counts = (this.last?.at ?? Number.NEGATIVE_INFINITY) + breaker.within;
    return this.attempts.size === 0 && now >= Math.max(counts, this.retryAt + longestPause);
  }
}

/** Stands for a controller that is not remembered. It is never changed. */
const newOwner = new Owner('');

/**
 * What a leader remembers of its deletions: token buckets, the back-off of each controller, and the breaker.
 * `now` is in milliseconds of a monotonic clock.
 */
export class RepairMemory {
  /**
   * Token buckets of the cluster, of nodes, of controllers, and of namespaces with released pods. A full bucket has
   * half of the tokens of a minute.
   */
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #owners = new Map<string, Owner>();
  readonly #breaker = new Breaker();
  readonly #hasPassed: (owner: string) => boolean;

  /** @param hasPassed whether a pod of the owner has passed on any node */
  constructor(hasPassed: (owner: string) => boolean = () => true) {
    this.#hasPassed = hasPassed;
  }

  limit(pod: PodEvidence, eligible: Turn, budgets: Budgets, now: number): Skipped | undefined {
    const owner = this.#owners.get(pod.owner) ?? newOwner;
    if (!owner.last?.passed && !this.#breaker.allows(pod.namespace, now)) return { reason: 'breaker' };
    // a pod that moves does not wait, because the gate keeps its replacement off the node only for some time
    const mayMove = eligible.moves && owner.failures <= mostMoves;
    if (owner.retryAt > now && !mayMove) return { reason: 'owner-pause' };
    if (!owner.hasTurn(pod.uid, eligible)) return { reason: 'owner-turn' };
    const [own, ...shared] = this.#bucketsOf(pod, budgets);
    // half of the shared tokens are left to owners with pods that have passed
    const least = (bucket: TokenBucket): number => (this.#hasPassed(pod.owner) ? 1 : bucket.half + 1);
    const isFree = own.left(now) >= 1 && shared.every((bucket) => bucket.left(now) >= least(bucket));
    return isFree ? undefined : { reason: 'budget' };
  }

  isStopped(now: number): boolean {
    return this.#breaker.isOpen(now);
  }

  /** Call it before the deletion, because the watch may report the replacement before the deletion is answered. */
  begin(pod: PodEvidence, budgets: Budgets, now: number): void {
    this.take(pod, budgets);
    const { namespace, uid } = pod;
    const owner = getOrMake(this.#owners, pod.owner, () => new Owner(namespace));
    owner.attempts.set(uid, { at: now, ordinal: ordinalOf(pod) });
    if (!owner.last?.passed) this.#breaker.tried(namespace, now);
  }

  /**
   * Whether one more released pod may be deleted. This takes a token of the pod's namespace, because any user can mark
   * a pod as released.
   */
  mayFinish({ namespace }: PodEvidence, { perMinute }: Budgets, now: number): boolean {
    const bucket = this.#bucket(`released/${namespace}`, perMinute);
    const may = bucket.left(now) >= 1;
    if (may) bucket.take(1);
    return may;
  }

  take(pod: PodEvidence, budgets: Budgets): void {
    for (const bucket of this.#bucketsOf(pod, budgets)) bucket.take(1);
  }

  cancel({ owner, namespace, uid }: PodEvidence): void {
    this.#owners.get(owner)?.attempts.delete(uid);
    this.#breaker.cancelled(namespace);
  }

  /** Call it for every change. @returns the outcome, if the change ends a recreation */
  observe({ before, now: pod }: EvidenceChange, now: number): Outcome | undefined {
    const { uid = '', owner: key = '' } = pod ?? before ?? {};
    const owner = this.#owners.get(key);
    if (owner === undefined) return undefined;
    if (before === undefined) owner.successors.add(uid);
    if (pod?.verdict === 'waiting' || !owner.successors.delete(uid) || pod === undefined) return undefined;
    const [attempt] = owner.attempts.keys();
    if (pod.verdict === 'passed') {
      owner.succeeded(now);
      this.#breaker.close();
    }
    if (attempt === undefined) return undefined;
    owner.attempts.delete(attempt);
    if (pod.verdict !== 'passed' && pod.verdict !== 'failed') return 'unknown';
    if (pod.verdict === 'failed') {
      owner.failed(now);
      owner.last = { passed: false, at: now };
      if (!this.isStopped(now) && this.#mostFailed(now)) {
        const withoutPass = [...this.#owners.values()].filter(({ last }) => !last?.passed);
        this.#breaker.open(new Set(withoutPass.map(({ namespace }) => namespace)), now);
      }
    }
    return pod.verdict;
  }

  /**
   * Ends recreations that got no verdict in time, and forgets controllers that no longer matter.
   * @returns how many recreations it ended
   */
  sweep(now: number): number {
    let count = 0;
    for (const [key, owner] of this.#owners) {
      const overdue = [...owner.attempts].filter(([, { at }]) => now - at >= longest);
      for (const [uid] of overdue) owner.attempts.delete(uid);
      if (overdue.length > 0) owner.failed(now);
      if (owner.isIdle(now)) this.#owners.delete(key);
      count += overdue.length;
    }
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key);
    return count;
  }

  /**
   * Whether most controllers failed. Each controller counts once, and only a few failures of each namespace count, so
   * that one tenant's pods cannot stop the repair of other tenants.
   */
  #mostFailed(now: number): boolean {
    const failures = new Map<string, number>();
    let passed = 0;
    for (const { namespace, last } of this.#owners.values()) {
      if (last === undefined || now - last.at >= breaker.within) continue;
      if (last.passed) passed += 1;
      else failures.set(namespace, Math.min((failures.get(namespace) ?? 0) + 1, breaker.ofNamespace));
    }
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    return failed + passed >= breaker.least && failed > passed;
  }

  /** The bucket of the pod's owner, then those that owners share. */
  #bucketsOf({ node, owner }: PodEvidence, budgets: Budgets): [TokenBucket, ...TokenBucket[]] {
    return [
      this.#bucket(`owner/${owner}`, budgets.perOwnerPerMinute),
      this.#bucket('cluster', budgets.perMinute),
      this.#bucket(`node/${node}`, budgets.perNodePerMinute),
    ];
  }

  #bucket(key: string, perMinute: number): TokenBucket {
    return getOrMake(
      this.#buckets,
      `${perMinute} ${key}`,
      () => new TokenBucket(perMinute / 60, Math.max(1, Math.ceil(perMinute / 2))),
    );
  }
}
