import { getOrMake } from '../../lib/maps.ts';
import type { PendingPod } from './pending-pod.ts';

/**
 * How a nomination ended. `left`: the pod no longer waits, mostly because it was bound; `ignored`: the pod still waits,
 * and the scheduler cleared the nomination or left it for long; `replaced`: another component wrote another one.
 */
export type Outcome = 'left' | 'ignored' | 'replaced';

/** A nomination that this process wrote. */
interface Nomination {
  /** The pod as it was before. */
  pod: PendingPod;
  node: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** The scheduler retries a pod after 11 s at most. One that leaves a nomination for so long does not use it. Milliseconds. */
const expiry = 60_000;

/**
 * The nominations of this process whose outcome is not known yet: the cluster does not tell an ignored one from one that
 * was never made. Pure: times are arguments, in milliseconds since the epoch.
 */
export class Nominations {
  /** By the key of the pod, then by its UID. */
  readonly #open = new Map<string, Map<string, Nomination>>();

  /** A nomination was written. */
  add(pod: PendingPod, node: string, now: number): void {
    getOrMake(this.#open, pod.key, () => new Map()).set(pod.uid, { pod, node, at: now });
  }

  /** The keys with open nominations. */
  keys(): Iterable<string> {
    return this.#open.keys();
  }

  /** Whether one is open for the pod. */
  isOpen({ key, uid }: Pick<PendingPod, 'key' | 'uid'>): boolean {
    return this.#open.get(key)?.has(uid) === true;
  }

  /**
   * Compares the open nominations of a key with its pods that wait.
   *
   * @returns those that ended
   */
  settle(key: string, pods: readonly PendingPod[], now: number): (Nomination & { outcome: Outcome })[] {
    const open = this.#open.get(key) ?? new Map<string, Nomination>();
    const waiting = new Map(pods.map((pod) => [pod.uid, pod]));
    const ended = [...open].flatMap(([uid, nomination]) => {
      const outcome = outcomeOf(nomination, waiting.get(uid), now);
      if (outcome === undefined) return [];
      open.delete(uid);
      return [{ ...nomination, outcome }];
    });
    if (open.size === 0) this.#open.delete(key);
    return ended;
  }
}

function outcomeOf(
  { pod: before, node, at }: Nomination,
  pod: PendingPod | undefined,
  now: number,
): Outcome | undefined {
  if (pod === undefined || pod.leaving) return 'left';
  // the watch may report the nomination later than the write returns
  const stands = pod.nominated === node || pod.version === before.version;
  if (stands) return now - at > expiry ? 'ignored' : undefined;
  return pod.nominated === '' ? 'ignored' : 'replaced';
}
