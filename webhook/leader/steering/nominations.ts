import type { PendingPod } from '../../core/facts/pending-pod.ts';

/**
 * `left`: the pod no longer waits for a node, mostly because it was bound; `ignored`: it still waits, and the
 * nomination was cleared or replaced, or has expired.
 */
export type Outcome = 'left' | 'ignored';

interface Nomination {
  pod: PendingPod;
  node: string;
  /** Milliseconds since the epoch. */
  at: number;
}

interface KeyState {
  /** Nominations without an outcome, by the pod's UID. */
  open: Map<string, Nomination>;
  /** How many nominations have had the outcome `left` since the last `ignored`. */
  worked: number;
}

/** Milliseconds. The scheduler retries a pod after at most 11 s, so it will not use an older nomination. */
const expiry = 60_000;

/**
 * The nominations of this process without an outcome. They are remembered, because a pod does not show whether the
 * scheduler cleared its nomination or there never was one. Times are milliseconds since the epoch.
 */
export class Nominations {
  readonly #keys = new Map<string, KeyState>();

  add(pod: PendingPod, node: string, now: number): void {
    const state = this.#keys.get(pod.key) ?? { open: new Map(), worked: 0 };
    this.#keys.set(pod.key, state);
    state.open.set(pod.uid, { pod, node, at: now });
  }

  keys(): Iterable<string> {
    return this.#keys.keys();
  }

  isOpen({ key, uid }: Pick<PendingPod, 'key' | 'uid'>): boolean {
    return this.#keys.get(key)?.open.has(uid) === true;
  }

  /**
   * How many more pods of a key may be nominated if only the scheduler can check their constraints: each success adds
   * one.
   */
  window(key: string): number {
    const { open, worked } = this.#keys.get(key) ?? { open: new Map(), worked: 0 };
    return 1 + worked - open.size;
  }

  /**
   * Ends those nominations of a key that have an outcome.
   * @param pods the key's pods that still wait
   * @returns `backOff`: whether a nomination was ignored, and none has succeeded since the previous ignored one
   */
  settle(
    key: string,
    pods: readonly PendingPod[],
    now: number,
  ): { ended: (Nomination & { outcome: Outcome })[]; backOff: boolean } {
    const state = this.#keys.get(key);
    if (state === undefined) return { ended: [], backOff: false };
    const waiting = new Map(pods.map((pod) => [pod.uid, pod]));
    const ended = [...state.open].flatMap(([uid, nomination]) => {
      const outcome = outcomeOf(nomination, waiting.get(uid), now);
      if (outcome === undefined) return [];
      state.open.delete(uid);
      return [{ ...nomination, outcome }];
    });
    const worked = state.worked + ended.filter(({ outcome }) => outcome === 'left').length;
    const isIgnored = ended.some(({ outcome }) => outcome === 'ignored');
    state.worked = isIgnored ? 0 : worked;
    if (pods.length === 0 && state.open.size === 0) this.#keys.delete(key);
    return { ended, backOff: isIgnored && worked === 0 };
  }
}

function outcomeOf(
  { pod: before, node, at }: Nomination,
  pod: PendingPod | undefined,
  now: number,
): Outcome | undefined {
  if (pod === undefined || pod.leaving) return 'left';
  // if the pod's resource version is unchanged, the watch has not reported the nomination yet
  const stands = pod.nominated === node || pod.version === before.version;
  return stands && now - at <= expiry ? undefined : 'ignored';
}
