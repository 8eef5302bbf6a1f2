import { nodeEvidence } from '../../lib/limits.ts';
import { nameOf } from '../../lib/names.ts';
import { isLost, type PodEvidence } from '../facts/pod-evidence.ts';
import { isBefore } from './boots.ts';
import { isNewPass } from './history.ts';
import { isLater, type Moment } from './moment.ts';

/** The failures of one owner's pods. Pods that waited at the same time count as one attempt. */
export interface Failure {
  /** `namespace/name` of the first pod that failed. Later failures do not change it, so that messages stay the same. */
  pod: string;
  /** When the latest failed run started. */
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
  /** The last proof that passed; undefined if none is known. */
  lastPass: Moment | undefined;
  /** When this process saw the last pass; for a pass from a list, when it ended by the node's clock. */
  passSeen = 0;
  /** The last failed attempt since the last pass: when this process saw it, and when its run started. */
  lastFailed: { seen: number; started: Moment } | undefined;
  /** The failures since the last pass, by `PodEvidence.owner`. */
  readonly failures = new Map<string, Failure>();
  /** The pods without a verdict, by UID. */
  readonly waiting = new Map<string, WaitingPod>();
  /** The pods with {@link PodEvidence.unready}, by UID. */
  readonly unready = new Map<string, PodEvidence>();
  /** The start of the first failed run since the last pass, by the node's clock. */
  #failingSince = 0;
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

  /** When, since the last pass, a failed run first started or a pod first became unready, whichever was earlier. */
  get failingSince(): number {
    const times = [...this.unready.values()].flatMap(({ unready }) => unready?.at ?? []);
    const losses = times.filter((at) => at > this.passSeen);
    return Math.min(
      ...losses,
      ...(this.failures.size > 0 || losses.length === 0 ? [this.#failingSince] : []),
    );
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

  /** A pod whose network is lost counts as failed when it is being deleted, is removed, or changes its node. */
  #forgetLoss(uid: string, now: number): void {
    const pod = this.unready.get(uid);
    this.unready.delete(uid);
    if (pod?.unready && isLost(pod, now)) this.#failed(pod, pod.unready, pod.unready.at, now);
  }

  /**
   * Must be called when the node has booted. Earlier results no longer count.
   * @param version of the Node after the boot
   */
  booted(version: string): void {
    this.#boot = version;
    for (const pod of this.unready.values()) if (isBefore(pod.version, version)) this.unready.delete(pod.uid);
    if (this.lastPass !== undefined && !isBefore(this.lastPass.shownBy ?? '', version)) return;
    this.lastPass = undefined;
    this.passSeen = 0;
    this.failures.clear();
    this.lastFailed = undefined;
  }

  /** Records a pass. A pass from a watch is the latest, even if the node's clock shows an earlier time. */
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

  /** Records a failure, unless its run started before the last pass and so says nothing about the current network. */
  #failed(pod: PodEvidence, started: Moment, since: number | undefined, now: number): void {
    if (this.lastPass !== undefined && !isLater(started, this.lastPass)) return;
    const isAfter = (seen: number): boolean => since !== undefined && since > seen;
    const known = this.failures.get(pod.owner);
    if (known !== undefined) {
      if (isLater(started, known.started)) known.started = started;
      if (isAfter(known.seen)) Object.assign(known, { attempts: known.attempts + 1, seen: now });
    } else if (this.failures.size < nodeEvidence.owners) {
      if (this.failures.size === 0) this.#failingSince = started.at;
      this.failures.set(pod.owner, { pod: nameOf(pod), started, attempts: 1, seen: now });
    }
    if (this.lastFailed === undefined || isAfter(this.lastFailed.seen))
      this.lastFailed = { seen: now, started };
  }
}
