import { isBefore } from '../../nodes/readiness/versions.ts';
import type { PendingPod } from './pending-pod.ts';

/**
 * How a nomination ended. `left`: the pod no longer waits, mostly because it was bound; `ignored`: the scheduler cleared
 * the nomination and the pod still waits; `raced`: the same for the first time, of this pod or, if only the scheduler can
 * judge the pods, of its key, maybe by an attempt of the scheduler that had begun before; `replaced`: another component wrote another one; `expired`: nothing happened.
 */
export type Outcome = 'left' | 'ignored' | 'raced' | 'replaced' | 'expired';

/** A nomination whose outcome is not known yet. */
interface Nomination {
  /** `namespace/name` */
  pod: string;
  node: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** The pod's version with the nomination. */
  version: string;
}

/** A nomination whose outcome is known. */
export interface Ended extends Pick<Nomination, 'pod' | 'node'> {
  uid: string;
  outcome: Outcome;
}

/** What is known of the pods of one key, which are alike. */
interface KeyState {
  /** By the pod's UID. */
  open: Map<string, Nomination>;
  /**
   * How many nominations may be open if only the scheduler can judge the pods. It doubles with each that works, and is one
   * after one that the scheduler did not use.
   */
  window: number;
  /** UIDs of pods with a nomination that {@link Outcome raced}. */
  raced: Set<string>;
}

/** The largest number of open nominations of pods that only the scheduler can judge. */
const largestWindow = 64;
/** The scheduler retries a pod after 11 s at most. One that leaves a nomination for so long does not use it. Milliseconds. */
const expiry = 60_000;

/** The outcomes of nominations that the scheduler did not use. */
export const unused: ReadonlySet<Outcome> = new Set(['ignored', 'expired']);

/** The nominations of this process that are open. Pure: times are arguments, in milliseconds since the epoch. */
export class Nominations {
  readonly #keys = new Map<string, KeyState>();

  /** A nomination was written. @param version the pod's with the nomination */
  add({ key, uid, namespace, name }: PendingPod, node: string, version: string, now: number): void {
    const state = this.#keys.get(key) ?? { open: new Map(), window: 1, raced: new Set() };
    this.#keys.set(key, state);
    state.open.set(uid, { pod: `${namespace}/${name}`, node, at: now, version });
  }

  /** The keys with nominations that were open when the key was last looked at. */
  keys(): Iterable<string> {
    return this.#keys.keys();
  }

  /** Whether it is one of {@link keys}. */
  hasKey(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Whether one is open for the pod. */
  isOpen({ key, uid }: Pick<PendingPod, 'key' | 'uid'>): boolean {
    return this.#keys.get(key)?.open.has(uid) === true;
  }

  /** How many more pods of a key may be nominated now, if only the scheduler can judge them. */
  window(key: string): number {
    const state = this.#keys.get(key);
    return state === undefined ? 1 : state.window - state.open.size;
  }

  /**
   * Compares the open nominations of a key with its pods that wait.
   *
   * @returns those that ended, and whether the key has to back off: the scheduler did not use one, and none worked since
   * the last time
   */
  settle(key: string, pods: readonly PendingPod[], now: number): { ended: Ended[]; backOff: boolean } {
    const state = this.#keys.get(key);
    if (state === undefined) return { ended: [], backOff: false };
    const waiting = new Map(pods.map((pod) => [pod.uid, pod]));
    const ended: Ended[] = [];
    for (const [uid, nomination] of state.open) {
      const pod = waiting.get(uid);
      // constraints that only the scheduler can judge are those of all pods of the key
      const hasRaced = state.raced.has(uid) || (pod?.unverifiable === true && state.raced.size > 0);
      const outcome = outcomeOf(nomination, pod, now, hasRaced);
      if (outcome === undefined) continue;
      ended.push({ uid, pod: nomination.pod, node: nomination.node, outcome });
      this.#close(state, uid, outcome);
    }
    const isUnused = ended.some((one) => unused.has(one.outcome));
    const worked = state.window > 1;
    if (isUnused) state.window = 1;
    if (pods.length === 0 && state.open.size === 0) this.#keys.delete(key);
    return { ended, backOff: isUnused && !worked };
  }

  #close(state: KeyState, uid: string, outcome: Outcome): void {
    state.open.delete(uid);
    if (outcome === 'raced') state.raced.add(uid);
    if (outcome !== 'left') return;
    state.raced.delete(uid);
    state.window = Math.min(2 * state.window, largestWindow);
  }
}

function outcomeOf(
  { node, at, version }: Nomination,
  pod: PendingPod | undefined,
  now: number,
  hasRaced: boolean,
): Outcome | undefined {
  if (pod === undefined || pod.leaving) return 'left';
  // the watch may report the nomination later than the write returns
  const isNewer = isBefore({ version, arrival: 0 }, { version: pod.version, arrival: 0 });
  if (pod.nominated === node || !isNewer) return now - at > expiry ? 'expired' : undefined;
  if (pod.nominated !== '') return 'replaced';
  return hasRaced ? 'ignored' : 'raced';
}
