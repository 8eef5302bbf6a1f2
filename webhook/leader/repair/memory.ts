import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceChange } from '../../core/networks/evidence.ts';
import type { RepairSettings } from '../../core/profiles/types.ts';
import { repairLimits } from '../../lib/limits.ts';
import { getOrMake } from '../../lib/maps.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import type { Skipped, Turn } from './decide.ts';

/** The verdict of a deleted pod's replacement. `unknown`: none in time, or none about the network. */
export type Outcome = 'passed' | 'failed' | 'unknown';

const { pause, longestPause, verdict: longest, breaker } = repairLimits;

/** After more failures than this, a pod has to wait even if its replacement can go to another node. */
const mostMoves = 2;

type Budgets = Pick<RepairSettings, 'perNodePerMinute' | 'perOwnerPerMinute' | 'perMinute'>;

class Owner {
  readonly namespace: string;
  /** Recreations without an outcome: the deleted pods' UIDs, the oldest first, and until when repair waits for each. */
  readonly attempts = new Map<string, number>();
  /** UIDs of pods that were created since the first recreation and have no verdict yet. A late verdict counts too. */
  readonly successors = new Set<string>();
  /** The last verdict of a replacement. After a success, all failed pods of the controller may be recreated. */
  last: { passed: boolean; at: number } | undefined;
  failures = 0;
  retryAt = Number.NEGATIVE_INFINITY;

  constructor(namespace: string) {
    this.namespace = namespace;
  }

  /** Whether the pod may be recreated now. For each controller, one pod is tried before the others. */
  hasTurn(uid: string, { proven, lost }: Turn): boolean {
    // an earlier attempt to delete the same pod does not count
    const others = this.attempts.size - (this.attempts.has(uid) ? 1 : 0);
    if (others === 0 || lost) return others === 0;
    return this.last?.passed || (proven && this.failures === 0);
  }

  succeeded(now: number): void {
    this.last = { passed: true, at: now };
    this.failures = 0;
    this.retryAt = Number.NEGATIVE_INFINITY;
  }

  /** A failure during a pause does not prolong the pause, because the attempt began before the pause. */
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

/** The state of a controller that is not remembered. Never modify it. */
const newOwner = new Owner('');

/**
 * What a leader remembers about its deletions: token buckets, the back-off of each controller, and the breaker. `now`
 * is in milliseconds of a monotonic clock.
 */
export class RepairMemory {
  /**
   * The rate limits of the cluster, of each node and of each controller. A bucket holds at most half of the tokens that
   * it gets in a minute, rounded up.
   */
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #owners = new Map<string, Owner>();
  /** Until when repair is stopped, and in which namespaces; in each other namespace, repair may try one pod. */
  #stop = { until: Number.NEGATIVE_INFINITY, namespaces: new Set<string>() };
  readonly #hasPassed: (owner: string) => boolean;

  /** @param hasPassed whether a pod of the owner has passed on any node */
  constructor(hasPassed: (owner: string) => boolean = () => true) {
    this.#hasPassed = hasPassed;
  }

  limit(pod: PodEvidence, eligible: Turn, budgets: Budgets, now: number): Skipped | undefined {
    const owner = this.#owners.get(pod.owner) ?? newOwner;
    const isStopped = this.isStopped(now) && this.#stop.namespaces.has(pod.namespace);
    if (!owner.last?.passed && isStopped) return { reason: 'breaker' };
    // a pod whose replacement can go to another node must not wait: the gate keeps the replacement off this node only
    // for a limited time
    const mayMove = eligible.moves && owner.failures <= mostMoves;
    if (owner.retryAt > now && !mayMove) return { reason: 'owner-pause' };
    if (!owner.hasTurn(pod.uid, eligible)) return { reason: 'owner-turn' };
    const [own, ...shared] = this.#bucketsOf(pod, budgets);
    // half of the shared tokens is reserved for owners whose pods have passed before
    const least = (bucket: TokenBucket): number => (this.#hasPassed(pod.owner) ? 1 : bucket.half + 1);
    const isFree = own.left(now) >= 1 && shared.every((bucket) => bucket.left(now) >= least(bucket));
    return isFree ? undefined : { reason: 'budget' };
  }

  isStopped(now: number): boolean {
    return now < this.#stop.until;
  }

  /** Must be called before the deletion: the watch may report the replacement before the API server answers. */
  begin(pod: PodEvidence, budgets: Budgets, now: number): void {
    this.take(pod, budgets);
    const { namespace, uid } = pod;
    const owner = getOrMake(this.#owners, pod.owner, () => new Owner(namespace));
    // waits longer if the pod was lost: other lost pods may recover while the replacement waits for a node
    owner.attempts.set(uid, now + (pod.unready === undefined ? longest : longestPause));
    if (!owner.last?.passed) this.#stop.namespaces.add(namespace);
  }

  take(pod: PodEvidence, budgets: Budgets): void {
    for (const bucket of this.#bucketsOf(pod, budgets)) bucket.take(1);
  }

  cancel({ owner, namespace, uid }: PodEvidence): void {
    this.#owners.get(owner)?.attempts.delete(uid);
    this.#stop.namespaces.delete(namespace);
  }

  /** Must be called for every change of a pod. @returns the outcome, if the change ends a recreation */
  observe({ before, now: pod }: EvidenceChange, now: number): Outcome | undefined {
    const { uid = '', owner: key = '' } = pod ?? before ?? {};
    const owner = this.#owners.get(key);
    if (owner === undefined) return undefined;
    if (before === undefined) owner.successors.add(uid);
    if (pod?.verdict === 'waiting' || !owner.successors.delete(uid) || pod === undefined) return undefined;
    const [attempt] = owner.attempts.keys();
    if (pod.verdict === 'passed') {
      owner.succeeded(now);
      this.#stop.until = Number.NEGATIVE_INFINITY;
    }
    if (attempt === undefined) return undefined;
    owner.attempts.delete(attempt);
    if (pod.verdict !== 'passed' && pod.verdict !== 'failed') return 'unknown';
    if (pod.verdict === 'failed') {
      owner.failed(now);
      owner.last = { passed: false, at: now };
      if (!this.isStopped(now) && this.#mostFailed(now)) {
        const withoutPass = [...this.#owners.values()].filter(({ last }) => !last?.passed);
        const namespaces = new Set(withoutPass.map(({ namespace }) => namespace));
        this.#stop = { until: now + breaker.within, namespaces };
      }
    }
    return pod.verdict;
  }

  /**
   * Ends recreations that got no verdict in time, and forgets controllers that no longer limit anything.
   * @returns how many recreations it ended
   */
  sweep(now: number): number {
    let count = 0;
    for (const [key, owner] of this.#owners) {
      const overdue = [...owner.attempts].filter(([, until]) => now >= until);
      for (const [uid] of overdue) owner.attempts.delete(uid);
      if (overdue.length > 0) owner.failed(now);
      if (owner.isIdle(now)) this.#owners.delete(key);
      count += overdue.length;
    }
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key);
    return count;
  }

  /**
   * Whether the replacements of most controllers failed. Each controller counts once, and each namespace's failures
   * count up to a maximum, so that one tenant's pods cannot stop the repair of other tenants.
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

  /** The bucket of the pod's own controller, then the buckets that controllers share. */
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
