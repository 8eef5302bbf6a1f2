import { getOrMake } from '../../lib/get-or-make.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import type { EvidenceChange } from '../../nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { Breaker } from './breaker.ts';
import type { Limits } from './decide.ts';
import { type Outcome, OwnerRecord } from './owner-record.ts';
import type { Budgets } from './types.ts';

/** Of controllers of which nothing is known. It is only read. */
const newOwner = new OwnerRecord();

/**
 * What a leader remembers of its deletions, and what became of them: token buckets, the back-off of each controller, and
 * the breaker. A new leader begins with an empty one. Pure: `now` is milliseconds of a monotonic clock.
 */
export class RepairMemory {
  readonly breaker = new Breaker();
  /** Of the cluster, of nodes and of controllers. A full one holds half of the tokens of a minute. */
  readonly #buckets = new Map<string, TokenBucket>();
  /** By owner. */
  readonly #owners = new Map<string, OwnerRecord>();

  /** What keeps failed pods waiting now. */
  limits(budgets: Budgets, now: number): Limits {
    const record = ({ owner }: PodEvidence): OwnerRecord => this.#owners.get(owner) ?? newOwner;
    return {
      isStopped: () => this.breaker.isStopped(now),
      pauseOf: (pod) => record(pod).pause(now),
      hasTurn: (pod, eligible) => record(pod).hasTurn(pod.uid, eligible, now),
      hasBudget: (pod) => this.#bucketsOf(pod, budgets).every((bucket) => bucket.left(now) >= 1),
    };
  }

  /** Call it before the deletion: the pod that replaces it may be reported before the answer. */
  begin(pod: PodEvidence, budgets: Budgets, now: number): void {
    this.take(pod, budgets);
    getOrMake(this.#owners, pod.owner, () => new OwnerRecord()).begin(pod.uid, now);
  }

  /** Takes a token of each bucket of the pod. */
  take(pod: PodEvidence, budgets: Budgets): void {
    for (const bucket of this.#bucketsOf(pod, budgets)) bucket.take(1);
  }

  /** The pod was not deleted. */
  cancel({ owner, uid }: PodEvidence): void {
    this.#owners.get(owner)?.cancel(uid);
  }

  /** Has to hear of all changes. @returns the outcome of a recreation that ended with it */
  observe({ before, now: pod }: EvidenceChange, now: number): Outcome | undefined {
    const record = this.#owners.get((pod ?? before)?.owner ?? '');
    if (pod === undefined) {
      if (before !== undefined) record?.gone(before.uid);
      return undefined;
    }
    if (before === undefined) record?.appeared(pod.uid);
    const outcome = record?.changed(pod, now);
    if (outcome === 'passed' || outcome === 'failed') this.breaker.record(pod, outcome === 'passed', now);
    return outcome;
  }

  /** Forgets what does not matter any longer; call it now and then. @returns how many recreations had no verdict in time */
  forgetOld(now: number): number {
    let overdue = 0;
    for (const [key, record] of this.#owners) {
      overdue += record.endOverdue(now);
      if (record.isIdle(now)) this.#owners.delete(key);
    }
    for (const [key, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(key);
    return overdue;
  }

  #bucketsOf({ node, owner }: PodEvidence, budgets: Budgets): TokenBucket[] {
    const bucket = (key: string, perMinute: number): TokenBucket =>
      // another rate, another bucket
      getOrMake(
        this.#buckets,
        `${perMinute} ${key}`,
        () => new TokenBucket(perMinute / 60, Math.max(1, Math.ceil(perMinute / 2))),
      );
    return [
      bucket('cluster', budgets.perMinute),
      bucket(`node/${node}`, budgets.perNodePerMinute),
      bucket(`owner/${owner}`, budgets.perOwnerPerMinute),
    ];
  }
}
