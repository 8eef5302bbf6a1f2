import { nodeEvidence } from '../../lib/limits.ts';
import { nameOf } from '../../lib/names.ts';
import { isLost, type PodEvidence } from '../facts/pod-evidence.ts';
import { isBefore } from './boots.ts';
import { isNewPass } from './history.ts';
import { isLater, type Moment } from './moment.ts';

/** The failures of one owner's pods. Failures of pods that waited together count as one attempt. */
export interface Failure {
  /** `namespace/name` of the first pod that failed. Later failures do not change it, so that messages stay the same. */
  pod: string;
  /** When the run of the latest failure started. */
  started: Moment;
  attempts: number;
  /** When this process saw the last attempt fail, by its own clock. */
  seen: number;
}

/** A pod without a verdict. */
interface WaitingPod {
  pod: PodEvidence;
  /** Since when the pod has had no verdict, as far as this process knows. */
  since: number;
  /** The pod's `metadata.resourceVersion` when this process first saw it without a verdict. */
  version: string;
}

/**
 * The results of one profile's proofs on one node. The record outlives the pods, so a failure counts even after its pod
 * was recreated. Its size is limited. {@link proofStatus} evaluates it.
 */
export class ProofRecord {
  /**
   * The last proof that passed; undefined if none is known. `seen`: when this process saw the proof pass; for a pass
   * from a list, when the proof ended by the node's clock.
   */
  lastPass: (Moment & { seen: number }) | undefined;
  /** The last failed attempt since the last pass: when this process saw it, and when its run started. */
  lastFailed: { seen: number; started: Moment } | undefined;
  /** The failures since the last pass, by `PodEvidence.owner`. */
  readonly failures = new Map<string, Failure>();
  /** The pods without a verdict, by UID. */
  readonly waiting = new Map<string, WaitingPod>();
  /** The pods with {@link PodEvidence.unready}, by UID. */
  readonly unready = new Map<string, PodEvidence>();
  /** `metadata.resourceVersion` of the Node when it last booted; empty if no boot was observed. */
  #boot: string;
  readonly #profile: string;

  constructor(profile: string, boot = '') {
    this.#profile = profile;
    this.#boot = boot;
  }

  get quiet(): boolean {
    return this.failures.size === 0 && this.waiting.size === 0 && this.unready.size === 0;
  }

  /** @param listed whether the pod comes from a list, so that the change may have happened long ago */
  observe(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const waited = this.waiting.get(pod.uid);
    if (pod.leaving) this.#forgetLoss(pod.uid, now);
    else this.unready.delete(pod.uid);
    if (pod.verdict === 'waiting' && !pod.ended && !pod.leaving) {
      const since = waited?.since ?? (listed ? Math.min(pod.at ?? now, now) : now);
      this.waiting.set(pod.uid, { pod, since, version: waited?.version ?? pod.version });
      return;
    }
    this.waiting.delete(pod.uid);
    if (isBefore(pod.version, this.#boot)) return;
    if (pod.unready !== undefined) this.unready.set(pod.uid, pod);
    if (pod.verdict === 'passed') {
      if (isNewPass(pod, before)) this.#passed(pod, before, listed, now);
    } else if (pod.failedProfiles.includes(this.#profile) && before?.verdict !== 'failed') {
      const started = { at: pod.startedAt ?? pod.at ?? now, after: waited?.version, shownBy: pod.version };
      this.#failed(pod, started, waited?.since, now);
    }
  }

  forget(uid: string, now: number): void {
    this.waiting.delete(uid);
    this.#forgetLoss(uid, now);
  }

  /** A pod whose network is lost counts as failed when the pod is being deleted, is gone, or changes its node. */
  #forgetLoss(uid: string, now: number): void {
    const pod = this.unready.get(uid);
    this.unready.delete(uid);
    if (pod?.unready && isLost(pod, now)) this.#failed(pod, pod.unready, pod.unready.at, now);
  }

  /**
   * Must be called when the node has booted. Earlier results no longer count.
   * @param version the Node's `metadata.resourceVersion` after the boot
   */
  booted(version: string): void {
    this.#boot = version;
    for (const pod of this.unready.values()) if (isBefore(pod.version, version)) this.unready.delete(pod.uid);
    if (this.lastPass !== undefined && !isBefore(this.lastPass.shownBy ?? '', version)) return;
    this.lastPass = undefined;
    this.failures.clear();
    this.lastFailed = undefined;
  }

  /** Records a pass. A pass from a watch counts as the latest, even if the node's clock shows an earlier time. */
  #passed(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const isSeen = !listed && before !== undefined;
    const at = pod.at ?? now;
    const pass = { at, after: before?.version, shownBy: pod.version, seen: isSeen ? now : at };
    if (!isSeen && this.lastPass !== undefined && !isLater(pass, this.lastPass)) return;
    this.lastPass = pass;
    for (const [owner, { started }] of this.failures) {
      if (isSeen || !isLater(started, pass)) this.failures.delete(owner);
    }
  }

  /** Records a failure, unless its run started before the last pass and so says nothing about the current network. */
  #failed(pod: PodEvidence, started: Moment, since: number | undefined, now: number): void {
    if (this.lastPass !== undefined && !isLater(started, this.lastPass)) return;
    const isAfter = (seen: number): boolean => since !== undefined && since > seen;
    const known = this.failures.get(pod.owner);
    if (known !== undefined) {
      known.started = started;
      if (isAfter(known.seen)) Object.assign(known, { attempts: known.attempts + 1, seen: now });
    } else if (this.failures.size < nodeEvidence.owners) {
      this.failures.set(pod.owner, { pod: nameOf(pod), started, attempts: 1, seen: now });
    }
    if (this.lastFailed === undefined || isAfter(this.lastFailed.seen))
      this.lastFailed = { seen: now, started };
  }
}
