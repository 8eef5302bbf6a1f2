import type { PodEvidence } from '../facts/pod-evidence.ts';

/** Milliseconds until a watch reports the pod on its node, or until the pod is recreated. */
const duration = 5000;
/** The watch of pods that wait can be this many milliseconds ahead of the watch of pods on nodes. */
const lag = 1000;
/** A node gets no more reservations by requests than this without a binding, for a minute: anyone can send requests. */
const mostAsked = 3;
const pause = 60_000;

interface Reservation {
  /** The UID of a pod, or the owner whose next pod may try: see `ownerKeyOf`. */
  holder: string;
  /** By our clock, in milliseconds since the epoch, as all times here. */
  until: number;
  /** Reservations by requests since a pod was last seen to be bound to the node. */
  asked: number;
}

/**
 * Who may be bound to the nodes that have to be proved, by profile: one pod, from the gate's answer until a watch shows
 * its binding. Only this process knows it.
 */
export class Reservations {
  readonly #all = new Map<string, Reservation>();

  /** For whom a node is reserved; undefined if it is for nobody. */
  holder(profile: string, node: string, now: number): string | undefined {
    const { holder, until = 0 } = this.#all.get(keyOf(profile, node)) ?? {};
    // a clock that was set back does not extend it
    return until > now && until - now <= duration ? holder : undefined;
  }

  /** Reserves a node for a pod or an owner's next pod. Only a request that the gate checked replaces another holder. */
  reserve(profile: string, node: string, holder: string, now: number, byRequest = false): void {
    const key = keyOf(profile, node);
    const { until, asked: before } = this.#all.get(key) ?? { until: 0, asked: 0 };
    const asked = (now - until < pause ? before : 0) + (byRequest ? 1 : 0);
    const current = this.holder(profile, node, now);
    if (current === holder || (current !== undefined && !byRequest) || asked > mostAsked) return;
    this.#all.set(key, { holder, until: now + duration, asked });
  }

  /** A pod does not wait for a node any more: it was bound to one, or is gone. */
  stoppedWaiting(uid: string, now: number): void {
    for (const reservation of this.#all.values())
      if (reservation.holder === uid) reservation.until = Math.min(reservation.until, now + lag);
  }

  /** A watch shows a pod on a node for the first time. */
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
