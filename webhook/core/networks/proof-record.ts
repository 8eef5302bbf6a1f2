import { nodeEvidence } from '../../lib/limits.ts';
import { nameOf } from '../../lib/names.ts';
import type { PodEvidence } from '../facts/pod-evidence.ts';
import { isBefore } from './boots.ts';
import { isNewPass } from './history.ts';
import { isLater, type Moment } from './moment.ts';

/** The pods of one owner that failed. Pods that waited together are one attempt. */
export interface Failure {
  /** `namespace/name` of the first one. It stays, so that texts with it stay. */
  pod: string;
  /** When the latest run of them started. */
  started: Moment;
  attempts: number;
  /** When the last attempt was seen to fail, by our clock. */
  seen: number;
}

/** A pod without a verdict. */
export interface WaitingPod {
  pod: PodEvidence;
  /** When it was first seen without one, by our clock. */
  since: number;
  /** Its `metadata.resourceVersion` then. */
  version: string;
}

/**
 * What pods of one profile showed on one node. It outlives the pods, because a pod that is recreated must not take its
 * failure with it. All of it is bounded. {@link assess} says what it means.
 */
export class ProofRecord {
  /** The last proof that passed, if any is known. */
  lastPass: Moment | undefined;
  /** When the last pass was seen, by our clock. */
  passSeen = 0;
  /** When the first run that failed since the last pass started, by the node's clock. */
  failingSince = 0;
  /** The last attempt that failed since the last pass: when that was seen by our clock, and when its run started. */
  lastFailed: { seen: number; started: Moment } | undefined;
  /** Since the last pass, by `PodEvidence.owner`. */
  readonly failures = new Map<string, Failure>();
  /** By UID. */
  readonly waiting = new Map<string, WaitingPod>();
  /** `metadata.resourceVersion` of the Node when it last booted; empty if that was not observed. */
  #boot: string;
  readonly #profile: string;

  constructor(profile: string, boot = '') {
    this.#profile = profile;
    this.#boot = boot;
  }

  get quiet(): boolean {
    return this.failures.size === 0 && this.waiting.size === 0;
  }

  /** @param listed whether a list shows it, so that the change may have happened long ago */
  observe(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const waited = this.waiting.get(pod.uid);
    if (pod.verdict === 'waiting' && !pod.ended && !pod.leaving) {
      const since = waited?.since ?? (listed ? Math.min(pod.at ?? now, now) : now);
      this.waiting.set(pod.uid, { pod, since, version: waited?.version ?? pod.version });
      return;
    }
    this.forget(pod.uid);
    if (isBefore(pod.version, this.#boot)) return;
    if (pod.verdict === 'passed') {
      if (isNewPass(pod, before)) this.#passed(pod, before, listed, now);
    } else if (pod.failedProfiles.includes(this.#profile) && before?.verdict !== 'failed') {
      this.#failed(pod, waited, now);
    }
  }

  forget(uid: string): void {
    this.waiting.delete(uid);
  }

  /** The node booted: what was observed before no longer counts. @param version of the Node with the new boot id */
  booted(version: string): void {
    this.#boot = version;
    if (this.lastPass !== undefined && !isBefore(this.lastPass.shownBy ?? '', version)) return;
    this.lastPass = undefined;
    this.passSeen = 0;
    this.failures.clear();
    this.lastFailed = undefined;
  }

  /** A pass that was observed as it happened is the latest, whatever the node's clock says. */
  #passed(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const seen = !listed && before !== undefined;
    const pass = { at: pod.at ?? now, after: before?.version, shownBy: pod.version };
    if (!seen && this.lastPass !== undefined && !isLater(pass, this.lastPass)) return;
    this.lastPass = pass;
    this.passSeen = seen ? now : pass.at;
    for (const [owner, { started }] of this.failures) {
      if (seen || !isLater(started, pass)) this.failures.delete(owner);
    }
    if (this.failures.size === 0) this.lastFailed = undefined;
  }

  /** A run that started before the last pass says what the network was before it. */
  #failed(pod: PodEvidence, waited: { since: number; version: string } | undefined, now: number): void {
    const at = pod.startedAt ?? pod.at ?? now;
    const started = { at, after: waited?.version, shownBy: pod.version };
    if (this.lastPass !== undefined && !isLater(started, this.lastPass)) return;
    const isAfter = (seen: number): boolean => waited !== undefined && waited.since > seen;
    const known = this.failures.get(pod.owner);
    if (known !== undefined) {
      if (isLater(started, known.started)) known.started = started;
      if (isAfter(known.seen)) Object.assign(known, { attempts: known.attempts + 1, seen: now });
    } else if (this.failures.size < nodeEvidence.owners) {
      if (this.failures.size === 0) this.failingSince = at;
      this.failures.set(pod.owner, { pod: nameOf(pod), started, attempts: 1, seen: now });
    }
    if (this.lastFailed === undefined || isAfter(this.lastFailed.seen))
      this.lastFailed = { seen: now, started };
  }
}
