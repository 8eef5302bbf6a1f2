import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, fitNote, podReference } from '../cluster/events/event.ts';
import { isLost, type PodEvidence } from '../core/facts/pod-evidence.ts';
import { type DuplicateAddress, duplicateAddresses } from '../core/networks/duplicate-addresses.ts';
import type { EvidenceView } from '../core/networks/evidence.ts';
import { duplicatesOfNamespace } from '../lib/limits.ts';
import { eventReasons, nameOf } from '../lib/names.ts';
import type { LeaderDeps } from './controller.ts';
import { lostEvent, recoveryEvents } from './lost-networks.ts';

/** Milliseconds between two searches. */
const interval = 5000;

/**
 * How long, in milliseconds, every search must find a duplicate before events report it. After a node's boot, each
 * pod's status shows an old address until the kubelet has updated the status, which takes 4.3 s for 64 pods.
 */
const patience = 60_000;

/** An event about a lost network is added only if the event queue has at least this many free slots. */
const reserve = 100;

type View = { evidence: Pick<EvidenceView, 'synced' | 'pods' | 'subscribe'> };

/** Writes events about duplicate addresses and lost networks while this process leads. Never throws. */
export async function watchEvidence(
  { view, leader, events }: Pick<LeaderDeps<View>, 'view' | 'leader' | 'events'>,
  signal: AbortSignal,
): Promise<void> {
  const duplicates = new DuplicateWatch();
  const unsubscribe = view.evidence.subscribe((changes) => {
    if (!leader.leads) return;
    for (const change of changes) {
      for (const event of recoveryEvents(change, Date.now()))
        if (events.capacity >= reserve) events.add(event);
    }
  });
  while (!signal.aborted) {
    const isKnown = leader.leads && view.evidence.synced;
    for (const pod of isKnown ? view.evidence.pods() : [])
      if (isLost(pod, Date.now()) && events.capacity >= reserve) events.add(lostEvent(pod));
    const found = isKnown ? duplicateAddresses(view.evidence.pods()) : undefined;
    for (const duplicate of found ? duplicates.lasting(found, Date.now()) : []) {
      if (events.capacity >= 2) for (const event of duplicateEvents(duplicate)) events.add(event);
    }
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
  unsubscribe();
}

export class DuplicateWatch {
  /** By {@link keyOf}: the time of the first of the consecutive searches that found the duplicate. */
  #since = new Map<string, number>();

  /** Returns the duplicates that all searches have found for a minute. @param now milliseconds since the epoch */
  lasting(found: readonly DuplicateAddress[], now: number): DuplicateAddress[] {
    const bySource = [...Map.groupBy(found, sourceOf).values()];
    const counted = bySource.flatMap((some) => some.slice(0, duplicatesOfNamespace));
    const before = this.#since;
    const since = (duplicate: DuplicateAddress): number => before.get(keyOf(duplicate)) ?? now;
    this.#since = new Map(counted.map((duplicate) => [keyOf(duplicate), since(duplicate)]));
    return counted.filter((duplicate) => now - since(duplicate) >= patience);
  }
}

/** Who reports the addresses, and could fake a duplicate. Each source has its own limit of duplicates. */
function sourceOf({ network, older, younger }: DuplicateAddress): string {
  if (network === '') return 'kubelets';
  return older.namespace === younger.namespace ? `namespace ${older.namespace}` : 'any namespace';
}

/** Identifies a duplicate by the same key on every replica, so that a new leader does not report it again. */
const keyOf = ({ network, address, older, younger }: DuplicateAddress): string =>
  `${network}/${address} ${older.uid} ${younger.uid}`;

/** Makes two events, one on each pod that has the address. */
function duplicateEvents(found: DuplicateAddress): Event[] {
  const { network, address, older, younger } = found;
  const of = network === '' ? 'the pod network' : `network ${network}`;
  const occasion = createHash('sha256').update(keyOf(found)).digest('hex').slice(0, 16);
  const about = (pod: PodEvidence, other: PodEvidence, which: string): Event => ({
    regarding: podReference(pod),
    type: 'Warning',
    reason: eventReasons.duplicateAddress,
    action: 'Report',
    occasion,
    node: pod.node,
    note: fitNote(
      `address ${address} of ${of} is also that of pod ${nameOf(other)} on node ${other.node}, the ${which} one`,
      '. Connections to it reach either pod. Find out to which pod the network assigned it, and delete the other one, without --force',
    ),
  });
  return [about(older, younger, 'younger'), about(younger, older, 'older')];
}
