import { nodeEvidence } from '../lib/limits.ts';
import type { PodEvidence } from './facts.ts';
import { reservation } from './trials.ts';

/** The last proof that passed. */
export interface Pass {
  /** `namespace/name` of the pod. */
  pod: string;
  /** UID of the pod. */
  uid: string;
  /** When the proof ended, by the node's clock. Milliseconds since the epoch, as all times here. */
  at: number;
  /** The resourceVersion of the pod when it was seen to wait for this pass; empty if it was not. */
  waited: string;
}

/** Proofs of one owner's pods that failed after the last pass. */
export interface Failure {
  /** `namespace/name` of the first pod. It stays, so that texts with it stay. */
  pod: string;
  /** When the first of them ended, by the node's clock. */
  at: number;
  /** When the latest of their runs started, by the node's clock. */
  startedAt: number;
}

/** A pod whose sandbox does not come. */
export interface Overdue {
  pod: string;
  owner: string;
  since: number;
}

/** How a pod without a verdict came to wait for one. */
export interface Wait {
  /** When it was first seen to wait, by our clock. */
  since: number;
  /** Whether it had a verdict before, in another sandbox: it was on the node when that booted. */
  again: boolean;
}

/** A pod whose verdict is not known after this time does not make others wait, in milliseconds. */
export const longestVerdict = 30_000;

/**
 * A sandbox that is not there after this time counts as evidence, in milliseconds. Multus alone waits up to 45 s for its
 * configuration.
 */
export const longSandbox = 60_000;

/** How many attempts are remembered: with so many, the pause between two is the longest. */
const mostAttempts = 9;

/** How many pods without a sandbox are looked at in one question. */
const mostLookedAt = 64;

/**
 * What pods of one profile showed on one node. It outlives the pods: a pod that is recreated must not take its evidence
 * with it. All that is kept is bounded.
 */
export class Tally {
  #lastPass: Pass | undefined;
  readonly #failures = new Map<string, Failure>();
  #attempts: number[] = [];
  #failureSeen: number | undefined;
  /** By UID: when pods were first seen to wait, by our clock. */
  readonly #recent = new Map<string, number>();
  readonly #undecided = new Set<string>();
  readonly #withoutSandbox = new Map<string, Overdue>();
  /** When the last pass was seen to happen, by our clock. */
  #passSeen = Number.NEGATIVE_INFINITY;
  /** The owner whose next pod has the turn to try, and until when, by our clock. */
  #turn: { owner: string; until: number } | undefined;
  /** The owner whose pod had the turn last, since the last pass. */
  #lastTurn: string | undefined;

  /** The last pass, if any is known. */
  get lastPass(): Pass | undefined {
    return this.#lastPass;
  }

  /** Failures since the last pass, the first of each owner, by `PodEvidence.owner`. */
  get failures(): ReadonlyMap<string, Failure> {
    return this.#failures;
  }

  /**
   * When attempts that failed since the last pass started, by the node's clock. Failures of pods that began to wait at
   * the same time are one attempt. Pods that were on the node already when it booted are none: no gate let them through.
   */
  get attempts(): readonly number[] {
    return this.#attempts;
  }

  /** When the first failure of the last attempt was seen, by our clock. */
  get failureSeen(): number | undefined {
    return this.#failureSeen;
  }

  /** How many pods on the node have no verdict yet. */
  get undecided(): number {
    return this.#undecided.size;
  }

  /** Whether anything may speak against the node. */
  get speaksAgainst(): boolean {
    return this.#failures.size > 0 || this.mayLackSandboxes;
  }

  /** Whether a pod has no sandbox. */
  get mayLackSandboxes(): boolean {
    return this.#withoutSandbox.size > 0;
  }

  /** Whether the verdict of a pod is to come that has not waited for longer than {@link longestVerdict}. */
  isSomebodyOnTheWay(now: number): boolean {
    for (const [uid, since] of this.#recent) {
      // our clock may have been set back: then the pod's time begins anew
      const from = Math.min(since, now);
      if (now - from < longestVerdict) {
        if (from < since) this.#recent.set(uid, from);
        return true;
      }
      this.#recent.delete(uid);
    }
    return false;
  }

  /**
   * Pods that have waited for a sandbox for longer than {@link longSandbox}, the first of each of at most two owners. The
   * wait counts from `from` at the earliest, and not at all if it began before the last pass.
   */
  overdue(now: number, from: number): Overdue[] {
    const found = new Map<string, Overdue>();
    let looked = 0;
    for (const one of this.#withoutSandbox.values()) {
      looked += 1;
      if (looked > mostLookedAt || found.size >= 2) break;
      if (now - Math.max(one.since, from) < longSandbox) continue;
      if (one.since <= (this.#lastPass?.at ?? Number.NEGATIVE_INFINITY)) continue;
      if (!found.has(one.owner)) found.set(one.owner, one);
    }
    return [...found.values()];
  }

  /** The owner of a pod that failed and is deleted: its next pod has the turn to try. Undefined if there is none. */
  turnOf(now: number): string | undefined {
    const { owner, until } = this.#turn ?? { owner: undefined, until: 0 };
    return until > now && until - now <= reservation ? owner : undefined;
  }

  /**
   * A pod that failed is being deleted, or is gone. The pod that replaces it has the turn to try: it was deleted to find
   * out whether the node works. An owner does not get the turn twice in a row, so that it cannot take every turn.
   */
  replaced({ owner, uid }: PodEvidence, now: number): void {
    if (owner !== uid && owner !== this.#lastTurn && [undefined, owner].includes(this.turnOf(now)))
      this.#turn = { owner, until: now + reservation };
  }

  /**
   * A pod has no verdict yet.
   *
   * @param since when it began to wait, by our clock
   */
  waits(pod: PodEvidence, since: number, now: number): void {
    const { uid } = pod;
    if (!this.#undecided.has(uid)) {
      this.#undecided.add(uid);
      if (pod.owner === this.#turn?.owner) {
        this.#lastTurn = pod.owner;
        this.#turn = undefined;
      }
      if (now - since < longestVerdict) this.#recent.set(uid, since);
    }
    const before = this.#withoutSandbox.get(uid);
    if (pod.hasSandbox !== false) this.#withoutSandbox.delete(uid);
    // waits from before a pass that was seen say nothing any more, whatever the node's clock says
    else if (before === undefined && (since >= this.#passSeen || this.#passSeen > now)) {
      const one = { pod: nameOf(pod), owner: pod.owner, since: Math.min(pod.at ?? now, now) };
      this.#withoutSandbox.set(uid, one);
    }
  }

  /**
   * A pod passed. Failures before it no longer count.
   *
   * @param waited see {@link Pass.waited}
   * @param seen whether the pass was observed when it happened: then it is the latest, whatever the node's clock says
   * @returns the owners whose failures it refutes
   */
  passed(pod: PodEvidence, waited: string, seen: boolean, now: number): string[] {
    this.forgets(pod.uid);
    const at = pod.at ?? now;
    if (!seen && this.#lastPass !== undefined && this.#lastPass.at >= at) return [];
    if (seen) {
      this.#withoutSandbox.clear();
      this.#passSeen = now;
    }
    this.#lastPass = { pod: nameOf(pod), uid: pod.uid, at, waited };
    const refuted: string[] = [];
    for (const [owner, failure] of this.#failures) {
      if (!seen && failure.startedAt > at) continue;
      this.#failures.delete(owner);
      // a list does not tell what came first
      if (seen && owner !== pod.owner) refuted.push(owner);
    }
    if (this.#failures.size === 0) {
      this.#attempts = [];
      this.#failureSeen = undefined;
      this.#lastTurn = undefined;
    }
    return refuted;
  }

  /**
   * A pod failed. It counts if its run started after the last pass: an earlier run says what the network was before.
   *
   * @param waited undefined if the pod was not seen to wait
   */
  failed(pod: PodEvidence, waited: Wait | undefined, now: number): void {
    this.forgets(pod.uid);
    const at = pod.at ?? now;
    const startedAt = pod.startedAt ?? at;
    if (this.#lastPass !== undefined && startedAt <= this.#lastPass.at) return;
    const owner = pod.owner;
    const first = this.#failures.get(owner);
    if (first !== undefined) first.startedAt = Math.max(first.startedAt, startedAt);
    else if (this.#failures.size < nodeEvidence.owners) {
      this.#failures.set(owner, { pod: nameOf(pod), startedAt, at });
    }
    if (waited?.again === true) return;
    const { since } = waited ?? {};
    if (this.#failureSeen !== undefined && (since === undefined || since <= this.#failureSeen)) return;
    this.#attempts = [...this.#attempts, startedAt].slice(-mostAttempts);
    this.#failureSeen = now;
  }

  /** The pod no longer waits. */
  forgets(uid: string): void {
    this.#undecided.delete(uid);
    this.#recent.delete(uid);
    this.#withoutSandbox.delete(uid);
  }

  /** Proofs up to now no longer say anything: the node booted. Pods without a verdict stay. */
  reset(): void {
    this.#lastPass = undefined;
    this.#failures.clear();
    this.#attempts = [];
    this.#failureSeen = undefined;
    this.#passSeen = Number.NEGATIVE_INFINITY;
    this.#turn = undefined;
    this.#lastTurn = undefined;
  }
}

const nameOf = ({ namespace, name }: PodEvidence): string => `${namespace}/${name}`;
