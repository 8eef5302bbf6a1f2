import { getOrMake } from '../../lib/get-or-make.ts';
import { repairLimits } from '../../lib/limits.ts';
import type { EvidenceChange } from '../../nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { Buckets, type Limit } from './buckets.ts';
import type { Limits } from './decide.ts';
import { Outcomes } from './outcomes.ts';
import { type Outcome, OwnerRecord } from './owner-record.ts';
import type { Budgets, Recreation } from './types.ts';

/** Of controllers of which nothing is known. It is only read. */
const newOwner = new OwnerRecord();

/** A recreation whose outcome is known. */
export interface Ended {
  recreation: Recreation;
  outcome: Outcome;
  /** The pod that replaced it; undefined where none had a verdict in time. */
  successor: PodEvidence | undefined;
}

/**
 * What a leader remembers of its deletions, and what became of them: buckets, the back-off of each controller, and the
 * breaker. A new leader begins with an empty one. Pure: `now` is milliseconds of a monotonic clock.
 */
export class RepairMemory {
  readonly outcomes = new Outcomes();
  readonly #buckets = new Buckets();
  /** By owner. */
  readonly #owners = new Map<string, OwnerRecord>();
  /** By node and profile: the deleted pod whose replacement finds out whether the network works there. */
  readonly #probes = new Map<string, string>();
  /** By UID: the version of a pod that is known to be outdated; undefined where all of its versions are. */
  readonly #answered = new Map<string, string | undefined>();

  /** What keeps failed pods waiting now. */
  limits(budgets: Budgets, now: number): Limits {
    const record = ({ owner }: PodEvidence): OwnerRecord => this.#owners.get(owner) ?? newOwner;
    return {
      isAnswered: (pod) => this.isAnswered(pod),
      isStopped: () => this.outcomes.isStopped(now),
      pauseOf: (pod) => record(pod).pause(now),
      hasTurn: (pod, eligible) => record(pod).hasTurn(pod.uid, eligible, now),
      failedBefore: (pod, other) => this.outcomes.failedBefore(pod, other),
      isProbed: (node, profile) => this.#probes.has(`${node}/${profile}`),
      hasBudget: (pod) => this.#buckets.have(limitsOf(pod, budgets), now),
    };
  }

  /** Whether there is nothing more to do about the pod at this version. */
  isAnswered({ uid, version }: PodEvidence): boolean {
    return this.#answered.has(uid) && [undefined, version].includes(this.#answered.get(uid));
  }

  /** Call it before the deletion: the pod that replaces it may be reported before the answer. */
  begin(recreation: Recreation, budgets: Budgets, now: number): void {
    const { pod, probes } = recreation;
    this.#buckets.take(limitsOf(pod, budgets));
    getOrMake(this.#owners, pod.owner, () => new OwnerRecord()).begin(recreation, now);
    if (probes) for (const key of probesOf(pod)) this.#probes.set(key, pod.uid);
  }

  /** Audit: the pod would have been recreated. */
  audited(pod: PodEvidence, budgets: Budgets): void {
    this.#buckets.take(limitsOf(pod, budgets));
    this.done(pod);
  }

  /** The pod is deleted: nothing more is done about it, also if the watch reports it once more. */
  done({ uid }: PodEvidence): void {
    this.#answered.set(uid, undefined);
  }

  /** The API server knows a newer version of the pod: nothing is done until the watch reports it. */
  outdated({ uid, version }: PodEvidence): void {
    this.#answered.set(uid, version);
  }

  /** The pod was not deleted. */
  cancel(recreation: Recreation): void {
    const { owner, uid } = recreation.pod;
    this.#owners.get(owner)?.cancel(uid);
    this.#endProbe(recreation);
  }

  /** Whether one more pod of a namespace that was released before may be deleted now. It takes a token. */
  mayFinish({ namespace }: PodEvidence, now: number): boolean {
    const limit = { key: `released/${namespace}`, perMinute: repairLimits.releasedPerMinute };
    const may = this.#buckets.have([limit], now);
    if (may) this.#buckets.take([limit]);
    return may;
  }

  /** Has to hear of all changes. @returns the recreation that ended with it */
  observe({ before, now: pod }: EvidenceChange, now: number): Ended | undefined {
    if (pod === undefined) {
      if (before === undefined) return undefined;
      this.#answered.delete(before.uid);
      this.#owners.get(before.owner)?.gone(before.uid);
      return undefined;
    }
    const record = this.#owners.get(pod.owner);
    if (before === undefined) record?.appeared(pod.uid);
    const ended = record?.changed(pod, now);
    if (ended === undefined) return undefined;
    if (ended.outcome !== 'unknown') this.outcomes.record(pod, ended.outcome === 'passed', now);
    this.#endProbe(ended.recreation);
    return { ...ended, successor: pod };
  }

  /** Forgets what does not matter any longer; call it now and then. @returns recreations that had no verdict in time */
  forgetOld(now: number): Ended[] {
    const ended: Ended[] = [];
    for (const [key, record] of this.#owners) {
      for (const { recreation } of record.endOverdue(now)) {
        this.outcomes.late(recreation.pod, now);
        this.#endProbe(recreation);
        ended.push({ recreation, outcome: 'unknown', successor: undefined });
      }
      if (record.isIdle(now)) this.#owners.delete(key);
    }
    this.#buckets.forgetFull(now);
    this.outcomes.forgetOld(now);
    return ended;
  }

  #endProbe({ pod }: Recreation): void {
    for (const key of probesOf(pod)) if (this.#probes.get(key) === pod.uid) this.#probes.delete(key);
  }
}

const probesOf = ({ node, failedProfiles }: PodEvidence): string[] =>
  failedProfiles.map((profile) => `${node}/${profile}`);

const limitsOf = ({ node, owner }: PodEvidence, budgets: Budgets): Limit[] => [
  { key: 'cluster', perMinute: budgets.perMinute },
  { key: `node/${node}`, perMinute: budgets.perNodePerMinute },
  { key: `owner/${owner}`, perMinute: budgets.perOwnerPerMinute },
];
