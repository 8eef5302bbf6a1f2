import type { PodEvidence } from '../evidence/facts.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { repairLimits } from '../lib/limits.ts';
import { BackOff } from '../steer/back-off.ts';
import type { KnownPods, Recreation } from './types.ts';
import { minute } from './window.ts';

/** A recreation of which nobody knows whether it was made. */
export interface Unsettled {
  recreation: Recreation;
  /** The pods as they were before the deletion. */
  before: Pick<KnownPods, 'ownedBy'>;
}

/** A pod that the executor asked for, or could not recreate. */
interface Asked {
  /** Its recreation was accepted, or would have been made: it is never asked for again. */
  made: boolean;
  /** A version of the pod that is known to be outdated. */
  stale: string | undefined;
  backOff: BackOff;
  /** The deletion without an answer, and since when it counts for the budgets. */
  unanswered: (Unsettled & { countedAt: number }) | undefined;
}

/** What came of requests for pods, until the pods are gone. Times are milliseconds of a monotonic clock. */
export class AskedPods {
  /** By UID. */
  readonly #pods = new Map<string, Asked>();

  /** The pod is not asked for again. */
  made(pod: PodEvidence): void {
    this.#of(pod).made = true;
  }

  /** The API server knows a newer version of the pod: nothing is done until the watch reports it. */
  stale(pod: PodEvidence): void {
    this.#of(pod).stale = pod.version;
  }

  /** The pod could not be recreated: it pauses. */
  failed(pod: PodEvidence, now: number): void {
    this.#of(pod).backOff.failed(now);
  }

  /** There was no answer, and the recreation counts for the budgets from now on. */
  unanswered(unsettled: Unsettled, now: number): void {
    this.#of(unsettled.recreation.pod).unanswered = { ...unsettled, countedAt: now };
  }

  /** Whether a deletion of the pod without an answer counts for the budgets: it may be repeated whatever they say. */
  isCounted({ uid }: Pick<PodEvidence, 'uid'>, now: number): boolean {
    const unanswered = this.#pods.get(uid)?.unanswered;
    return unanswered !== undefined && now - unanswered.countedAt < minute;
  }

  /** Whether the pod is not to be asked for: it was recreated, could not be, or a newer version is to be reported. */
  isBusy({ uid, version }: PodEvidence, now: number): boolean {
    const asked = this.#pods.get(uid);
    if (asked === undefined) return false;
    return asked.made || asked.stale === version || asked.backOff.notBefore > now;
  }

  /** The recreations without an answer that were made after all: their pods are gone, are leaving, or are released. */
  settled(pods: Pick<KnownPods, 'pod'>): Unsettled[] {
    return [...this.#pods].flatMap(([uid, { made, unanswered }]) => {
      const pod = pods.pod(uid);
      const isThere = pod !== undefined && !pod.leaving && pod.releasedFrom === undefined;
      return made || unanswered === undefined || isThere ? [] : [unanswered];
    });
  }

  /** Forgets pods that are gone. */
  forget(pods: Pick<KnownPods, 'pod'>): void {
    for (const uid of this.#pods.keys()) if (pods.pod(uid) === undefined) this.#pods.delete(uid);
  }

  #of({ uid }: PodEvidence): Asked {
    return getOrMake(this.#pods, uid, () => ({
      made: false,
      stale: undefined,
      backOff: new BackOff(repairLimits),
      unanswered: undefined,
    }));
  }
}
