import { dashboardLimits } from '../lib/limits.ts';
import { timeText } from '../lib/time-text.ts';
import type { PodFacts, RepairEvent } from '../status/facts.ts';
import type { FailedPod } from '../status/model.ts';
import type { ProofMinute, RepairStep } from './model.ts';

const minute = 60_000;

/**
 * What proofs and repair did over time. At first it knows the verdicts of the pods that exist, by the times at which
 * their containers ended; what it has seen once stays when the pod is gone.
 */
export class History {
  readonly #minutes = new Map<number, { passed: number; failed: number }>();
  /** Verdicts that were counted, of pods that exist. */
  #counted = new Set<string>();
  readonly #repairs = new Map<string, RepairStep>();

  /**
   * Begins with what the leader told of before.
   *
   * @param events of pods, the oldest first
   * @param present pods whose proof failed and that exist: what repair says of them is read from their own events
   */
  begin(events: readonly RepairEvent[], present: readonly Pick<FailedPod, 'namespace' | 'name'>[]): void {
    const names = new Set(present.map(({ namespace, name }) => `${namespace}/${name}`));
    for (const { namespace, name, node, at, note } of events.slice(-dashboardLimits.repairs)) {
      const pod = `${namespace}/${name}`;
      const seen = timeText(at);
      if (!names.has(pod)) this.#repairs.set(`${pod} ${seen}`, { pod, node, seen, note, gone: true });
    }
  }

  /**
   * Adds what is new.
   *
   * @param pods all that exist
   * @param failed those of them whose proof did not pass
   * @param now milliseconds since the epoch
   */
  observe(pods: Iterable<PodFacts>, failed: readonly FailedPod[], now: number): void {
    this.#observeProofs(pods, now);
    this.#observeRepairs(failed, now);
  }

  /** The minutes in which proofs ended, the oldest first. */
  proofs(): ProofMinute[] {
    return Array.from(
      this.#minutes,
      ([at, { passed, failed }]): ProofMinute => [at, passed, failed],
    ).toSorted(([one], [other]) => one - other);
  }

  /** What repair said about pods, the latest first. */
  repairs(): RepairStep[] {
    return [...this.#repairs.values()].reverse();
  }

  #observeProofs(pods: Iterable<PodFacts>, now: number): void {
    const oldest = now - dashboardLimits.proofs;
    const counted = new Set<string>();
    for (const { evidence } of pods) {
      if (evidence?.at === undefined || evidence.verdict === 'waiting') continue;
      // the clock of a node may be ahead
      const at = Math.min(evidence.at, now);
      if (at < oldest) continue;
      const key = `${evidence.uid} ${evidence.verdict} ${evidence.at}`;
      counted.add(key);
      if (!this.#counted.has(key)) this.#count(Math.floor(at / minute), evidence.verdict === 'passed');
    }
    // a pod that is gone does not come back with its UID
    this.#counted = counted;
    for (const at of this.#minutes.keys()) if (at * minute < oldest) this.#minutes.delete(at);
  }

  #count(at: number, isPassed: boolean): void {
    const count = this.#minutes.get(at) ?? { passed: 0, failed: 0 };
    count[isPassed ? 'passed' : 'failed'] += 1;
    this.#minutes.set(at, count);
  }

  #observeRepairs(failed: readonly FailedPod[], now: number): void {
    const present = new Set<string>();
    for (const { namespace, name, node, since, repair } of failed) {
      const pod = `${namespace}/${name}`;
      const key = `${pod} ${since}`;
      present.add(key);
      if (repair === null) continue;
      const seen = this.#repairs.get(key)?.seen ?? timeText(now);
      this.#repairs.set(key, { pod, node, seen, note: repair, gone: false });
    }
    for (const [key, step] of this.#repairs) if (!present.has(key)) step.gone = true;
    for (const key of this.#repairs.keys()) {
      if (this.#repairs.size <= dashboardLimits.repairs) break;
      this.#repairs.delete(key);
    }
  }
}
