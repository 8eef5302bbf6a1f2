import { nodeEvidence } from '../../lib/limits.ts';
import { nameOf } from '../../lib/names.ts';
import { isBefore } from '../readiness/boots.ts';
import { isLater, type Moment } from '../readiness/moment.ts';
import type { PodEvidence } from './facts.ts';
import { isNewPass } from './history.ts';

/** The pods of one owner that failed. Pods that waited together are one attempt. */
interface Failure {
  /** `namespace/name` of the first one. It stays, so that texts with it stay. */
  pod: string;
  /** When the latest run of them started. */
  started: Moment;
  attempts: number;
  /** When the last attempt was seen to fail, by our clock. */
  seen: number;
}

/** Who may be bound to a node that has to be proved. */
export interface Candidate {
  /** Identifies the pod; undefined for the one that would replace a failed pod. */
  key?: string;
  owner: string;
  /** Since when the gate has refused it, in milliseconds since the epoch; undefined where it has not. */
  heldSince?: number | undefined;
}

/** A pod whose verdict is not known after this time does not make others wait, in milliseconds. */
const longestVerdict = 30_000;
/** A sandbox that is not there after this time counts as a failure. Multus waits up to 45 s for its configuration. */
const longSandbox = 60_000;
/** The pause after an attempt that failed. */
const pause = 2000;
/** The pause for owners that give way: each waiting pod has asked by then, as kube-scheduler's longest pause is 11 s. */
const givesWay = 12_000;
/** The first pause of an owner after its own attempt. Each further one that fails doubles it, up to the longest. */
const ownPause = 4000;
const longestPause = 300_000;
/**
 * An owner with a pod that runs elsewhere waits at least as long, as the next one can go there; unless none of the
 * scheduler's attempts found another node.
 */
const leastElsewhere = 60_000;

/**
 * What pods of one profile showed on one node: the last pass, the owners that failed since, and the pods without a
 * verdict. It outlives the pods, because a pod that is recreated must not take its failure with it. All of it is bounded.
 */
export class NodeProofStats {
  /** The last proof that passed, if any is known. */
  lastPass: Moment | undefined;
  /** When the first run that failed since the last pass started, by the node's clock. */
  failingSince = 0;
  /** Since the last pass, by `PodEvidence.owner`. */
  readonly #failures = new Map<string, Failure>();
  /** The pods without a verdict, and since when they were seen so by our clock, in which version; by UID. */
  readonly #waiting = new Map<string, { pod: PodEvidence; since: number; version: string }>();
  /** When the last pass was seen, by our clock. */
  #passSeen = 0;
  /** The last attempt that failed since the last pass: when that was seen by our clock, and when its run started. */
  #lastFailed: { seen: number; started: Moment } | undefined;
  /** `metadata.resourceVersion` of the Node when it last booted; empty if that was not observed. */
  #boot: string;
  readonly #profile: string;
  readonly #hasPassed: (owner: string) => boolean;

  /** @param hasPassed whether pods of an owner have passed on any node */
  constructor(profile: string, hasPassed: (owner: string) => boolean, boot = '') {
    this.#profile = profile;
    this.#hasPassed = hasPassed;
    this.#boot = boot;
  }

  /** Whether nothing speaks against the node. */
  get quiet(): boolean {
    return this.#failures.size === 0 && this.#waiting.size === 0;
  }

  /**
   * A pod was added or changed.
   *
   * @param before what was known of it
   * @param listed whether a list shows it, so that the change may have happened long ago
   */
  observe(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const waited = this.#waiting.get(pod.uid);
    if (pod.verdict === 'waiting' && !pod.ended && !pod.leaving) {
      const since = waited?.since ?? (listed ? Math.min(pod.at ?? now, now) : now);
      this.#waiting.set(pod.uid, { pod, since, version: waited?.version ?? pod.version });
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

  /** The pod no longer waits. */
  forget(uid: string): void {
    this.#waiting.delete(uid);
  }

  /** The node booted: what was observed before no longer counts. @param version of the Node with the new boot id */
  booted(version: string): void {
    this.#boot = version;
    if (this.lastPass !== undefined && !isBefore(this.lastPass.shownBy ?? '', version)) return;
    this.lastPass = undefined;
    this.#passSeen = 0;
    this.#failures.clear();
    this.#lastFailed = undefined;
  }

  /** Whether exactly one attempt of the owner failed since the last pass. */
  failedOnce(owner: string): boolean {
    return this.#failures.get(owner)?.attempts === 1;
  }

  /** Whether a pod is on the way to find out whether the node works. */
  isTried(now: number): boolean {
    // a clock that was set back makes no pod wait
    return [...this.#waiting.values()].some(({ since }) => Math.abs(now - since) < longestVerdict);
  }

  /**
   * Whether the pause after the last attempt is over. A pod can fail for its own sake: so an owner that never passed on any
   * node gives way after its failure here, or if one that has passed failed here. Own failures make an owner wait longer.
   *
   * @param candidate undefined if no particular pod asks
   * @param from the start of the network's containers: attempts before it do not count
   * @param runsElsewhere whether a pod of the candidate's owner has passed on another node
   */
  isPauseOver(
    candidate: Candidate | undefined,
    from: Moment,
    now: number,
    runsElsewhere: () => boolean,
  ): boolean {
    const last = this.#lastFailed;
    if (last === undefined || isLater(from, last.started) || last.seen > now) return true;
    const since = now - last.seen;
    if (candidate === undefined) return since >= pause;
    const failure = this.#failures.get(candidate.owner);
    const isSuspect = !this.#hasPassed(candidate.owner);
    if (since < (isSuspect && (failure || this.#hasTrustedFailure()) ? givesWay : pause)) return false;
    if (failure === undefined || isLater(from, failure.started)) return true;
    const own = Math.min(longestPause, ownPause * 2 ** (failure.attempts - 1));
    const waited = now - failure.seen;
    if (waited < own) return false;
    // repair knows better whether another node takes the pod
    if (candidate.key === undefined || waited >= leastElsewhere) return true;
    return now - (candidate.heldSince ?? now) >= givesWay || !runsElsewhere();
  }

  #hasTrustedFailure(): boolean {
    return [...this.#failures.keys()].some(this.#hasPassed);
  }

  /**
   * What speaks against the node since the network's containers started, one text for each owner: its pods failed, or
   * have had no sandbox for long. Pods that waited for one when another pod passed do not count.
   */
  against(from: Moment, now: number): string[] {
    const texts = new Map<string, string>();
    for (const [owner, { pod, started }] of this.#failures) {
      if (!isLater(from, started)) texts.set(owner, `pod ${pod} failed`);
    }
    for (const { pod, since } of this.#waiting.values()) {
      // a start in the future is of a clock that was set back since
      const waitsFrom = from.at > now ? since : Math.max(since, from.at);
      const isOverdue = pod.hasSandbox === false && now - waitsFrom >= longSandbox;
      if (isOverdue && since > this.#passSeen && !texts.has(pod.owner)) {
        texts.set(pod.owner, `pod ${nameOf(pod)} has no sandbox`);
      }
    }
    return [...texts.values()];
  }

  /** A pass that was observed as it happened is the latest, whatever the node's clock says. */
  #passed(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const seen = !listed && before !== undefined;
    const pass = { at: pod.at ?? now, after: before?.version, shownBy: pod.version };
    if (!seen && this.lastPass !== undefined && !isLater(pass, this.lastPass)) return;
    this.lastPass = pass;
    this.#passSeen = seen ? now : pass.at;
    for (const [owner, { started }] of this.#failures) {
      if (seen || !isLater(started, pass)) this.#failures.delete(owner);
    }
    if (this.#failures.size === 0) this.#lastFailed = undefined;
  }

  /** A run that started before the last pass says what the network was before it. */
  #failed(pod: PodEvidence, waited: { since: number; version: string } | undefined, now: number): void {
    const at = pod.startedAt ?? pod.at ?? now;
    const started = { at, after: waited?.version, shownBy: pod.version };
    if (this.lastPass !== undefined && !isLater(started, this.lastPass)) return;
    const isAfter = (seen: number): boolean => waited !== undefined && waited.since > seen;
    const known = this.#failures.get(pod.owner);
    if (known !== undefined) {
      if (isLater(started, known.started)) known.started = started;
      if (isAfter(known.seen)) Object.assign(known, { attempts: known.attempts + 1, seen: now });
    } else if (this.#failures.size < nodeEvidence.owners) {
      if (this.#failures.size === 0) this.failingSince = at;
      this.#failures.set(pod.owner, { pod: nameOf(pod), started, attempts: 1, seen: now });
    }
    if (this.#lastFailed === undefined || isAfter(this.#lastFailed.seen))
      this.#lastFailed = { seen: now, started };
  }
}
