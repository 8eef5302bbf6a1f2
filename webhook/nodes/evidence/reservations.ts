import type { PodEvidence } from './facts.ts';

/** How long a node is reserved: until a watch reports the pod on it, or until the pod is recreated. Milliseconds. */
const duration = 5000;
/** The watch of pods that wait can be this much ahead of the watch of pods on nodes. Milliseconds. */
const lag = 1000;
/**
 * Reservations of a node for pods that were never seen there, before it gets no more of them. Anyone who knows the UID of
 * a pod that waits can ask for it, and may never bind it.
 */
const mostClaims = 3;

interface Reservation {
  /** The UID of a pod, or the owner whose next pod may try: see `ownerKeyOf`. */
  holder: string;
  /** By our clock, in milliseconds since the epoch, as all times here. */
  until: number;
  /** Reservations for pods since a pod was last seen to be bound to the node. */
  claims: number;
}

/**
 * Who may be bound to the nodes that have to be proved, by profile: one pod, from the gate's answer until a watch shows
 * its binding. A reservation replaces no other one. Only this process knows it.
 */
export class Reservations {
  readonly #all = new Map<string, Reservation>();

  /** For whom a node is reserved; undefined if it is for nobody. */
  holder(profile: string, node: string, now: number): string | undefined {
    const { holder, until } = this.#all.get(keyOf(profile, node)) ?? { holder: undefined, until: 0 };
    // a clock that was set back does not extend it
    return until > now && until - now <= duration ? holder : undefined;
  }

  /** Reserves a node for the next pod of an owner. */
  reserve(profile: string, node: string, owner: string, now: number): void {
    if (this.holder(profile, node, now) !== undefined) return;
    this.#set(profile, node, owner, now, 0);
  }

  /** Reserves a node for a pod that waits. It must be free, or reserved for this pod or its owner. */
  claim(profile: string, node: string, pod: string, now: number): void {
    if (this.holder(profile, node, now) !== pod) this.#set(profile, node, pod, now, 1);
  }

  /** A pod does not wait for a node any more: it was bound to one, or is gone. */
  stoppedWaiting(uid: string, now: number): void {
    for (const one of this.#all.values()) if (one.holder === uid) one.until = Math.min(one.until, now + lag);
  }

  /** A watch shows a pod on a node for the first time. */
  bound({ uid, owner, node, profiles }: PodEvidence, now: number): void {
    const here = new Set(profiles.map((profile) => keyOf(profile, node)));
    for (const [key, one] of this.#all) {
      if (one.holder === uid || one.holder === owner) one.until = 0;
      if (here.has(key)) one.claims = 0;
      if (one.until <= now && one.claims === 0) this.#all.delete(key);
    }
  }

  nodeGone(node: string): void {
    for (const key of this.#all.keys()) if (key.endsWith(` ${node}`)) this.#all.delete(key);
  }

  #set(profile: string, node: string, holder: string, now: number, claim: 0 | 1): void {
    const key = keyOf(profile, node);
    const claims = (this.#all.get(key)?.claims ?? 0) + claim;
    if (claims <= mostClaims) this.#all.set(key, { holder, until: now + duration, claims });
  }
}

/** Names of nodes have no spaces. */
const keyOf = (profile: string, node: string): string => `${profile} ${node}`;
