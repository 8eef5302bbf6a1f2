import { nodeEvidence } from '../lib/limits.ts';

/**
 * How long the gate counts a pod as on the way that it let through, in milliseconds: until the watch reports the pod on
 * its node. Then the cluster says how long it is on the way.
 */
export const reservation = 5000;

/**
 * The pods that this replica let through to nodes that need a proof, between the answer and the event of the watch. Only
 * this is in memory. So each replica may let one pod through at the same time.
 */
export class Trials {
  readonly #taken = new Map<string, { pod: string; until: number }>();

  /**
   * Whether another pod was let through a moment ago.
   *
   * @param pod the pod that asks; undefined if no particular pod does
   */
  isTaken(profile: string, node: string, pod: string | undefined, now: number): boolean {
    const taken = this.#taken.get(keyOf(profile, node));
    return taken !== undefined && taken.pod !== pod && taken.until > now && taken.until - now <= reservation;
  }

  /** Lets a pod through. */
  take(profile: string, node: string, pod: string, now: number): void {
    const key = keyOf(profile, node);
    this.#taken.delete(key);
    this.#taken.set(key, { pod, until: now + reservation });
    for (const [other, { until }] of this.#taken) {
      if (until > now && this.#taken.size <= nodeEvidence.trials) break;
      this.#taken.delete(other);
    }
  }
}

const keyOf = (profile: string, node: string): string => `${node} ${profile}`;
