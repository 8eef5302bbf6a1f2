import { nodeEvidence } from '../../lib/limits.ts';
import { evictOldest, getOrMake } from '../../lib/maps.ts';
import type { PodEvidence } from '../facts/pod-evidence.ts';
import { withHistory } from './history.ts';
import { ProofRecord } from './proof-record.ts';
import { Reservations } from './reservations.ts';

/** A pod that was added, changed or removed. `before` is undefined for an added pod, and `now` for a removed one. */
export interface EvidenceChange {
  before: PodEvidence | undefined;
  now: PodEvidence | undefined;
}

export type EvidenceView = Readonly<
  Pick<Evidence, 'synced' | 'pods' | 'pod' | 'ownedBy' | 'hasPassed' | 'of' | 'reservations' | 'subscribe'>
>;

/** A change from a list or a watch. With `listed`, it comes from a list, and may have happened long ago. */
export type PodChange = { type: 'put'; pod: PodEvidence; listed: boolean } | { type: 'gone'; uid: string };

/**
 * What the proofs of pods showed about networks, from lists and watches alone. After a restart, the first lists restore
 * these results, except failures of deleted pods, earlier failures of pods that failed again, and boots of nodes.
 */
export class Evidence {
  readonly #known = new Map<string, PodEvidence>();
  readonly #owners = new Map<string, Set<string>>();
  /** The records by profile, then by node. */
  readonly #records = new Map<string, Map<string, ProofRecord>>();
  /** `metadata.resourceVersion` of each Node at its last observed boot. */
  readonly #boots = new Map<string, string>();
  /** Owners with a pod that has passed, on any node; the owner with the latest pass is last. */
  readonly #passedOwners = new Set<string>();
  readonly #subscribers = new Set<(changes: readonly EvidenceChange[]) => void>();
  readonly #isProfile: (name: string) => boolean;
  readonly reservations: Reservations;
  /** Whether the first list of all pods is complete. */
  synced = false;

  /** @param isProfile whether the profile exists: users can write any name into a pod */
  constructor(isProfile: (name: string) => boolean = () => true, reservations = new Reservations()) {
    this.#isProfile = isProfile;
    this.reservations = reservations;
  }

  markSynced(): void {
    this.synced = true;
  }

  pods(): Iterable<PodEvidence> {
    return this.#known.values();
  }

  pod(uid: string): PodEvidence | undefined {
    return this.#known.get(uid);
  }

  /** The known pods of a controller. @param owner see {@link PodEvidence.owner} */
  *ownedBy(owner: string): Generator<PodEvidence, void, undefined> {
    for (const uid of this.#owners.get(owner) ?? []) {
      const pod = this.#known.get(uid);
      if (pod !== undefined) yield pod;
    }
  }

  /** Whether a pod of this controller has passed on any node. */
  readonly hasPassed = (owner: string): boolean => this.#passedOwners.has(owner);

  /** The results of a profile's proofs on a node; undefined if there are none. */
  of(profile: string, node: string): ProofRecord | undefined {
    return this.#records.get(profile)?.get(node);
  }

  /** Calls `changed` after each batch of changes. @returns a function that ends the subscription */
  subscribe(changed: (changes: readonly EvidenceChange[]) => void): () => void {
    this.#subscribers.add(changed);
    return () => this.#subscribers.delete(changed);
  }

  /** Applies changes in their order. @param now milliseconds since the epoch */
  apply(changes: Iterable<PodChange>, now: number): void {
    const done: EvidenceChange[] = [];
    for (const change of changes) {
      const before = this.#known.get(change.type === 'put' ? change.pod.uid : change.uid);
      const pod = change.type === 'put' ? change.pod : undefined;
      const listed = change.type === 'put' && change.listed;
      const after = pod && before ? withHistory(pod, before, listed, now) : pod;
      if (before !== undefined) this.#drop(before, after, now);
      if (after !== undefined) this.#put(after, before, listed, now);
      if (before !== undefined || after !== undefined) done.push({ before, now: after });
    }
    for (const changed of this.#subscribers) changed(done);
  }

  /**
   * Must be called when a node has booted. Earlier results of its pods no longer count.
   * @param version resourceVersion of the Node with the new boot id: a separate watch reports the pods, so
   *   only resourceVersions show which changes of pods came before the boot
   */
  booted(node: string, version: string): void {
    this.#boots.set(node, version);
    for (const nodes of this.#records.values()) nodes.get(node)?.booted(version);
  }

  nodeGone(node: string): void {
    this.#boots.delete(node);
    for (const nodes of this.#records.values()) nodes.delete(node);
  }

  /** Forgets the records of profiles that no longer exist. */
  profilesChanged(): void {
    for (const profile of this.#records.keys()) {
      if (!this.#isProfile(profile)) this.#records.delete(profile);
    }
  }

  #put(pod: PodEvidence, before: PodEvidence | undefined, listed: boolean, now: number): void {
    const { uid, owner, node, profiles, verdict } = pod;
    if (before === undefined) this.reservations.bound(pod, now);
    this.#known.set(uid, pod);
    // a pod without a controller is its own owner, and needs no entry here
    if (owner !== uid) {
      getOrMake(this.#owners, owner, () => new Set()).add(uid);
      if (verdict === 'passed') this.#remember(owner);
    }
    for (const profile of profiles) this.#recordOf(profile, node)?.observe(pod, before, listed, now);
  }

  #remember(owner: string): void {
    this.#passedOwners.delete(owner);
    this.#passedOwners.add(owner);
    evictOldest(this.#passedOwners, nodeEvidence.passedOwners);
  }

  /** Removes a pod from the maps where it no longer belongs. @param after the changed pod; undefined if it is gone */
  #drop(before: PodEvidence, after: PodEvidence | undefined, now: number): void {
    const { uid, owner, node, profiles } = before;
    if (after === undefined) this.#known.delete(uid);
    const owned = this.#owners.get(owner);
    owned?.delete(uid);
    // an owner reference can change often, and the entries of old owners would fill the memory
    if (owned?.size === 0) this.#owners.delete(owner);
    if (after?.node !== node) for (const profile of profiles) this.of(profile, node)?.forget(uid, now);
  }

  #recordOf(profile: string, node: string): ProofRecord | undefined {
    if (!this.#isProfile(profile)) return undefined;
    const nodes = getOrMake(this.#records, profile, () => new Map<string, ProofRecord>());
    const record = getOrMake(nodes, node, () => new ProofRecord(profile, this.#boots.get(node)));
    evictOldest(nodes, nodeEvidence.nodes);
    return record;
  }
}

/** Evidence without any results, for a server that watches no cluster. */
export const noEvidence: EvidenceView = new Evidence(() => false);
