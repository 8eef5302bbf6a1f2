import type { PodEvidence } from '../evidence/facts.ts';

/** A pod that was added, changed or removed. One of the two is undefined if it was added or removed. */
interface Changed {
  before: PodEvidence | undefined;
  now: PodEvidence | undefined;
}

/** The pods whose proof failed, kept up to date by the changes of all pods, so that a plan does not go through all. */
export class FailedPods implements Iterable<PodEvidence> {
  readonly #pods = new Map<string, PodEvidence>();

  /** @param pods all pods that are known at first */
  constructor(pods: Iterable<PodEvidence> = []) {
    for (const pod of pods) this.#put(pod);
  }

  get size(): number {
    return this.#pods.size;
  }

  apply(changes: Iterable<Changed>): void {
    for (const { before, now } of changes) {
      if (now !== undefined) this.#put(now);
      else if (before !== undefined) this.#pods.delete(before.uid);
    }
  }

  [Symbol.iterator](): Iterator<PodEvidence> {
    return this.#pods.values();
  }

  #put(pod: PodEvidence): void {
    if (pod.verdict === 'failed') this.#pods.set(pod.uid, pod);
    else this.#pods.delete(pod.uid);
  }
}
