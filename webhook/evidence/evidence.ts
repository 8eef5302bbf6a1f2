import { nodeEvidence } from '../lib/limits.ts';
import { isBefore } from '../readiness/versions.ts';
import type { PodEvidence } from './facts.ts';
import { Tally, type Wait } from './tally.ts';
import { Trials } from './trials.ts';

/** A pod that was added, changed or removed. One of the two is undefined if it was added or removed. */
export interface EvidenceChange {
  before: PodEvidence | undefined;
  now: PodEvidence | undefined;
}

/** What pods found out about their networks, for readers. */
export interface EvidenceView {
  /** Whether all pods were listed once. */
  readonly synced: boolean;
  /** All known pods on nodes that carry our label. */
  pods(): Iterable<PodEvidence>;
  /** A pod by its UID. */
  pod(uid: string): PodEvidence | undefined;
  /** The pods of a node. */
  onNode(node: string): Iterable<PodEvidence>;
  /** The pods of a controller, by {@link PodEvidence.owner}. */
  ownedBy(owner: string): Iterable<PodEvidence>;
  /** What pods of a profile showed on a node; undefined if no pod of it was seen there. */
  of(profile: string, node: string): Tally | undefined;
  /** Whether the failures of an owner do not count: others passed where its pods failed, and none of its own since. */
  isRefuted(owner: string): boolean;
  /** The pods that the gate let through a moment ago. */
  readonly trials: Trials;
  /** Calls back after each batch of changes. @returns ends the subscription */
  subscribe(changed: (changes: readonly EvidenceChange[]) => void): () => void;
}

/** No evidence: where no cluster is watched. */
export const noEvidence: EvidenceView = {
  synced: false,
  pods: () => [],
  pod: () => undefined,
  onNode: () => [],
  ownedBy: () => [],
  of: () => undefined,
  isRefuted: () => false,
  trials: new Trials(),
  subscribe: () => () => {},
};

/** What was observed of a pod without a verdict. */
interface Waiting extends Wait {
  /** Its resourceVersion when it was first seen so. */
  version: string;
  /** When the pass ended that it showed before, if it did. */
  passedAt: number | undefined;
}

/** A change of a pod as a watch reports it. `listed`: from a list, so it may have happened long ago. */
export type PodChange = { type: 'put'; pod: PodEvidence; listed: boolean } | { type: 'gone'; uid: string };

/**
 * What pods found out about their networks: a reducer over watch events. Pure: the caller passes the time.
 *
 * All of it comes from the cluster, so a process that starts knows it again, with three exceptions: failures of pods that
 * are gone; of a pod that fails again and again, its first failure; and that a node booted, if none of its pods and no
 * DaemonSet shows it.
 */
export class Evidence implements EvidenceView {
  readonly trials = new Trials();
  readonly #known = new Map<string, PodEvidence>();
  /** Of pods without a verdict, by UID. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #nodes = new Map<string, Set<string>>();
  readonly #owners = new Map<string, Set<string>>();
  /** By node, then by profile. */
  readonly #tallies = new Map<string, Map<string, Tally>>();
  #entries = 0;
  readonly #refuted = new Set<string>();
  /** By node: the end of the latest proof before its boot, by the node's clock. */
  readonly #beforeBoot = new Map<string, number>();
  readonly #subscribers = new Set<(changes: readonly EvidenceChange[]) => void>();
  readonly #isProfile: (name: string) => boolean;
  #isSynced = false;

  /** @param isProfile whether a profile of this name exists: users can name any */
  constructor(isProfile: (name: string) => boolean = () => true) {
    this.#isProfile = isProfile;
  }

  get synced(): boolean {
    return this.#isSynced;
  }

  /** Everything was listed once. */
  markSynced(): void {
    this.#isSynced = true;
  }

  pods(): Iterable<PodEvidence> {
    return this.#known.values();
  }

  pod(uid: string): PodEvidence | undefined {
    return this.#known.get(uid);
  }

  onNode(node: string): Iterable<PodEvidence> {
    return this.#podsOf(this.#nodes.get(node));
  }

  ownedBy(owner: string): Iterable<PodEvidence> {
    return this.#podsOf(this.#owners.get(owner));
  }

  of(profile: string, node: string): Tally | undefined {
    return this.#tallies.get(node)?.get(profile);
  }

  isRefuted(owner: string): boolean {
    return this.#refuted.has(owner);
  }

  subscribe(changed: (changes: readonly EvidenceChange[]) => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /** Applies changes in their order. @param now milliseconds since the epoch */
  apply(changes: Iterable<PodChange>, now: number): void {
    const done: EvidenceChange[] = [];
    for (const change of changes) {
      const before = this.#known.get(change.type === 'put' ? change.pod.uid : change.uid);
      const after = change.type === 'put' ? this.#put(change.pod, change.listed, now) : undefined;
      if (change.type === 'gone') {
        if (before !== undefined) this.#replaced(before, now);
        this.#remove(change.uid);
      }
      if (before !== undefined || after !== undefined) done.push({ before, now: after });
    }
    if (done.length > 0) for (const changed of this.#subscribers) changed(done);
  }

  /**
   * A node booted: what its pods found out before no longer counts.
   *
   * @param version resourceVersion of the Node with the new boot id
   */
  booted(node: string, version: string): void {
    let latest = this.#beforeBoot.get(node) ?? Number.NEGATIVE_INFINITY;
    for (const { verdict, at, version: own } of this.onNode(node)) {
      // versions decide, because the watches of nodes and of pods are not in step
      const isOld = isBefore({ version: own, arrival: 0 }, { version, arrival: 1 });
      if (verdict !== 'waiting' && at !== undefined && isOld) latest = Math.max(latest, at);
    }
    if (latest > Number.NEGATIVE_INFINITY) this.#beforeBoot.set(node, latest);
    for (const tally of this.#tallies.get(node)?.values() ?? []) {
      const pass = tally.lastPass;
      if (pass === undefined || pass.at <= latest) tally.reset();
    }
  }

  /** A Node was deleted. */
  nodeGone(node: string): void {
    this.#entries -= this.#tallies.get(node)?.size ?? 0;
    this.#tallies.delete(node);
    this.#beforeBoot.delete(node);
  }

  /** Other profiles may exist now: pods of new ones are counted as after a start, and those of old ones forgotten. */
  profilesChanged(now: number): void {
    const counted = new Set<string>();
    for (const [node, tallies] of this.#tallies) {
      for (const profile of tallies.keys()) {
        if (this.#isProfile(profile)) counted.add(`${node} ${profile}`);
        else if (tallies.delete(profile)) this.#entries -= 1;
      }
    }
    for (const pod of this.#known.values()) {
      const waited = this.#waiting.get(pod.uid);
      const profiles = pod.profiles.filter((profile) => !counted.has(`${pod.node} ${profile}`));
      if (profiles.length > 0)
        this.#count({ ...pod, profiles }, { before: undefined, waited, listed: true }, now);
    }
  }

  #put(given: PodEvidence, listed: boolean, now: number): PodEvidence {
    const before = this.#known.get(given.uid);
    const pod = withFirstFailure(given, before);
    const { uid } = pod;
    if (before?.node !== pod.node) this.#remove(uid);
    // whoever may change a pod may give it another controller, as often as they like
    if (before !== undefined && before.owner !== pod.owner) drop(this.#owners, before.owner, uid);
    this.#known.set(uid, pod);
    add(this.#nodes, pod.node, uid);
    // a pod without a controller is found by its UID
    if (pod.owner !== uid) add(this.#owners, pod.owner, uid);
    const since = listed ? Math.min(pod.at ?? now, now) : now;
    const isWaiting = pod.verdict === 'waiting';
    const again = before !== undefined && before.verdict !== 'waiting';
    const passedAt = before?.verdict === 'passed' ? before.at : undefined;
    const waited =
      this.#waiting.get(uid) ?? (isWaiting ? { since, version: pod.version, again, passedAt } : undefined);
    this.#count(pod, { before, waited, listed }, now);
    if (pod.leaving && before?.leaving === false) this.#replaced(pod, now);
    if (isWaiting && waited !== undefined) this.#waiting.set(uid, waited);
    else this.#waiting.delete(uid);
    return pod;
  }

  /**
   * Counts a pod on its node.
   *
   * @param waited what was observed of it before its verdict
   */
  #count(
    pod: PodEvidence,
    {
      before,
      waited,
      listed,
    }: { before: PodEvidence | undefined; waited: Waiting | undefined; listed: boolean },
    now: number,
  ): void {
    const { verdict, node, uid } = pod;
    // after a boot, the kubelet shows the pass of before until the proof runs again
    const isRepeated = verdict === 'passed' && pod.at !== undefined && pod.at === waited?.passedAt;
    const isNews =
      !isRepeated && (before?.verdict !== verdict || (verdict === 'passed' && before.at !== pod.at));
    const isOld =
      waited === undefined && (pod.at ?? now) <= (this.#beforeBoot.get(node) ?? Number.NEGATIVE_INFINITY);
    if (verdict === 'passed' && isNews) this.#refuted.delete(pod.owner);
    for (const profile of pod.profiles) {
      const tally = this.#isProfile(profile) ? this.#tally(node, profile) : undefined;
      if (tally === undefined) continue;
      if (verdict === 'waiting' && !pod.ended && !pod.leaving) tally.waits(pod, waited?.since ?? now, now);
      else if (verdict === 'passed' && isNews && !isOld) {
        const seen = !listed && before !== undefined;
        for (const owner of tally.passed(pod, waited?.version ?? '', seen, now)) this.#refute(owner);
      } else if (verdict === 'failed' && isNews && !isOld && pod.failedProfiles.includes(profile)) {
        tally.failed(pod, waited, now);
      } else tally.forgets(uid);
    }
  }

  /** A pod is being deleted, or is gone. */
  #replaced(pod: PodEvidence, now: number): void {
    if (pod.verdict !== 'failed') return;
    for (const profile of pod.failedProfiles) this.of(profile, pod.node)?.replaced(pod, now);
  }

  #refute(owner: string): void {
    if (this.#refuted.size >= nodeEvidence.refuted) this.#refuted.clear();
    this.#refuted.add(owner);
  }

  #tally(node: string, profile: string): Tally {
    const ofNode = this.#tallies.get(node) ?? new Map<string, Tally>();
    this.#tallies.set(node, ofNode);
    const known = ofNode.get(profile);
    if (known !== undefined) return known;
    if (this.#entries >= nodeEvidence.entries) this.#dropOldest(node);
    const tally = new Tally();
    ofNode.set(profile, tally);
    this.#entries += 1;
    return tally;
  }

  #dropOldest(except: string): void {
    for (const node of this.#tallies.keys()) {
      if (node === except) continue;
      this.nodeGone(node);
      return;
    }
  }

  #remove(uid: string): void {
    const pod = this.#known.get(uid);
    if (pod === undefined) return;
    this.#known.delete(uid);
    this.#waiting.delete(uid);
    drop(this.#nodes, pod.node, uid);
    drop(this.#owners, pod.owner, uid);
    for (const tally of this.#tallies.get(pod.node)?.values() ?? []) tally.forgets(uid);
  }

  *#podsOf(uids: ReadonlySet<string> | undefined): Generator<PodEvidence, void, undefined> {
    for (const uid of uids ?? []) {
      const pod = this.#known.get(uid);
      if (pod !== undefined) yield pod;
    }
  }
}

/** A pod that fails again and again in one sandbox has one failure: the first. */
function withFirstFailure(pod: PodEvidence, before: PodEvidence | undefined): PodEvidence {
  if (pod.verdict !== 'failed' || before?.verdict !== 'failed') return pod;
  const { at, startedAt } = before;
  return at === pod.at ? pod : { ...pod, at, startedAt };
}

function add(index: Map<string, Set<string>>, key: string, uid: string): void {
  const found = index.get(key);
  if (found === undefined) index.set(key, new Set([uid]));
  else found.add(uid);
}

function drop(index: Map<string, Set<string>>, key: string, uid: string): void {
  const found = index.get(key);
  found?.delete(uid);
  if (found?.size === 0) index.delete(key);
}
