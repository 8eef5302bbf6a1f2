import { heldPods } from '../../lib/limits.ts';
import { evictOldest } from '../../lib/maps.ts';
import type { PendingPod } from '../facts/pending-pod.ts';

/** For how long, in milliseconds, a pod may wait for something else, such as capacity, before its hold ends. */
const interruption = 60_000;

interface Hold {
  /** When the pod was first refused, in milliseconds since the epoch, like all times here. */
  since: number;
  /** The node of the last refusal. */
  node: string;
  /** Whether the scheduler has written our refusal into the condition PodScheduled of the pod. */
  isShown: boolean;
  /** Since when the condition has shown something other than our refusal; `Infinity` until then. */
  otherSince: number;
}

/**
 * The pods that this process knows to be held, by UID: it refused them itself, or a watch showed another replica's
 * refusal. PodScheduled does not show when the hold began, and not every scheduler writes refusals into it.
 */
export class Holds {
  readonly #all = new Map<string, Hold>();

  /** Since when a pod has been refused, on any node; undefined if it was never refused. */
  since({ uid, heldSince }: Pick<PendingPod, 'uid' | 'heldSince'>, now: number): number | undefined {
    // a clock that was ahead when the refusal was written must not prolong the hold
    const written = heldSince === undefined ? undefined : Math.min(heldSince, now);
    return this.#current(uid, now)?.since ?? written;
  }

  /** Records that this process refused to bind a pod to a node. */
  refuse(uid: string, node: string, since: number): void {
    this.#set(uid, since, node, this.#all.get(uid)?.isShown ?? false);
  }

  /** Records a waiting pod. @param listed whether the pod comes from a list, so its refusal may be old */
  observe({ uid, refused }: PendingPod, listed: boolean, now: number): void {
    const hold = this.#all.get(uid);
    if (refused !== undefined) {
      if (hold !== undefined || !listed) this.#set(uid, this.#current(uid, now)?.since ?? now, refused, true);
    } else if (hold?.isShown) hold.otherSince = Math.min(hold.otherSince, now);
  }

  /** Forgets a pod that no longer waits for a node. */
  forget(uid: string): void {
    this.#all.delete(uid);
  }

  /** Returns the pod with its last known refusal, even if the pod's condition does not show it yet. */
  of(pod: PendingPod): PendingPod {
    const hold = this.#all.get(pod.uid);
    if (hold === undefined || (hold.isShown && pod.refused === undefined)) return pod;
    return { ...pod, refused: hold.node, heldSince: hold.since };
  }

  #current(uid: string, now: number): Hold | undefined {
    const hold = this.#all.get(uid);
    return hold === undefined || now - hold.otherSince > interruption ? undefined : hold;
  }

  #set(uid: string, since: number, node: string, isShown: boolean): void {
    this.#all.set(uid, { since, node, isShown, otherSince: Number.POSITIVE_INFINITY });
    evictOldest(this.#all, heldPods);
  }
}
