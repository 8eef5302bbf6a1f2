import { heldPods } from '../../lib/limits.ts';
import { evictOldest } from '../../lib/maps.ts';
import type { GatePod } from '../facts/gate-pod.ts';
import type { DaemonSetStatus } from './daemon-set-status.ts';

/** A hold outlasts this time of waiting for something else: pods that compete for a node find it full. Milliseconds. */
const interruption = 60_000;

interface Hold {
  /** The first refusal, in milliseconds since the epoch, as all times here. */
  since: number;
  /** The node of the last one. */
  node: string;
  /** Whether its scheduler wrote the refusal into the pod: then the condition says what the pod waits for. */
  isShown: boolean;
  /** Since when the condition gives another reason; infinite if it does not. */
  otherSince: number;
}

/**
 * The pods that this process knows to be held, by UID: it refused them, or a watch showed that another replica did. A
 * condition has no time of the first refusal, and not every scheduler writes refusals into it.
 */
export class Holds {
  readonly #all = new Map<string, Hold>();

  /** Since when a pod is held; undefined if it was not refused yet. @param status of the DaemonSet that is not ready */
  since({ uid, heldSince }: Pick<GatePod, 'uid' | 'heldSince'>, status: DaemonSetStatus, now: number) {
    const written = heldSince === undefined ? undefined : holdBegan(heldSince, status, now);
    return this.#current(uid, now)?.since ?? written;
  }

  /** Since when a pod is refused on any node; undefined if it was not. */
  refusedSince({ uid, heldSince }: Pick<GatePod, 'uid' | 'heldSince'>, now: number): number | undefined {
    return this.#current(uid, now)?.since ?? heldSince;
  }

  /** This process refuses a node for a pod. */
  refuse(uid: string, node: string, since: number): void {
    this.#set(uid, since, node, this.#all.get(uid)?.isShown ?? false);
  }

  /** A watch shows a pod that waits. @param listed whether it comes from a list: its refusal may be old */
  observe({ uid, refused }: GatePod, listed: boolean, now: number): void {
    const hold = this.#all.get(uid);
    if (refused !== undefined) {
      if (hold !== undefined || !listed) this.#set(uid, this.#current(uid, now)?.since ?? now, refused, true);
    } else if (hold?.isShown) hold.otherSince = Math.min(hold.otherSince, now);
  }

  /** The pod no longer waits for a node. */
  forget(uid: string): void {
    this.#all.delete(uid);
  }

  /** A pod with its last refusal, which its condition may not show yet. */
  of<Pod extends GatePod>(pod: Pod): Pod {
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

/** When a hold began that is older than this process: with the refusal or the state of the node, whichever is later. */
export function holdBegan(heldSince: number, { since, observedAt }: DaemonSetStatus, now: number): number {
  const began = [since, observedAt].find((time) => time !== undefined && time <= now);
  return Math.min(now, Math.max(heldSince, began ?? 0));
}
