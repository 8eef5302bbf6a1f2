import type { PodEvidence } from '../facts/pod-evidence.ts';

/**
 * How long a reservation lasts, in milliseconds: by then, a watch shows the pod for which the node was reserved, or the
 * replacement of the failed pod, on the node.
 */
const duration = 5000;
/** The watch of waiting pods may show a binding this many milliseconds before the watch of pods on nodes does. */
const lag = 1000;
/** How many requests that bind no pod may reserve a node within a minute: anyone can send such requests. */
const mostAsked = 3;
const pause = 60_000;

interface Reservation {
  /** The UID of the pod, or the owner (see `ownerKeyOf`) for whose next pod the node is reserved. */
  holder: string;
  /** When the reservation ends by our clock, in milliseconds since the epoch, like all times here. */
  until: number;
  /** How many requests have reserved the node since a watch last showed a new pod on it. */
  asked: number;
}

/**
 * For each profile and each node that needs a proof, the one pod that may be bound there, from the gate's answer until
 * a watch shows the binding. Each replica has its own reservations.
 */
export class Reservations {
  readonly #all = new Map<string, Reservation>();

  /** The pod or the owner for which a node is reserved; undefined if the node is not reserved. */
  holder(profile: string, node: string, now: number): string | undefined {
    const { holder, until = 0 } = this.#all.get(keyOf(profile, node)) ?? {};
    // ignores a reservation that a change of the clock would prolong
    return until > now && until - now <= duration ? holder : undefined;
  }

  /** Reserves a node for a pod, or an owner's next pod. Only an admission request replaces another holder. */
  reserve(profile: string, node: string, holder: string, now: number, byRequest = false): void {
    const key = keyOf(profile, node);
    const { until, asked: before } = this.#all.get(key) ?? { until: 0, asked: 0 };
    const asked = (now - until < pause ? before : 0) + (byRequest ? 1 : 0);
    const current = this.holder(profile, node, now);
    if (current === holder || (current !== undefined && !byRequest) || asked > mostAsked) return;
    this.#all.set(key, { holder, until: now + duration, asked });
  }

  /** Must be called when a pod no longer waits for a node, because it was bound or is gone. */
  stoppedWaiting(uid: string, now: number): void {
    for (const reservation of this.#all.values())
      if (reservation.holder === uid) reservation.until = Math.min(reservation.until, now + lag);
  }

  /** Must be called when a watch shows a pod on a node for the first time. */
  bound({ uid, owner, node, profiles }: PodEvidence, now: number): void {
    const here = new Set(profiles.map((profile) => keyOf(profile, node)));
    for (const [key, reservation] of this.#all) {
      if (reservation.holder === uid || reservation.holder === owner)
        reservation.until = Math.min(reservation.until, now);
      if (here.has(key)) reservation.asked = 0;
      if (reservation.until <= now - (reservation.asked && pause)) this.#all.delete(key);
    }
  }
}

const keyOf = (profile: string, node: string): string => `${profile} ${node}`;
