import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, fitNote, podReference } from '../cluster/events/event.ts';
import type { PodEvidence } from '../core/facts/pod-evidence.ts';
import { type DuplicateAddress, duplicateAddresses } from '../core/networks/duplicate-addresses.ts';
import type { EvidenceView } from '../core/networks/evidence.ts';
import type { Readiness } from '../core/networks/readiness.ts';
import { duplicatesOfNamespace } from '../lib/limits.ts';
import { eventReasons, nameOf } from '../lib/names.ts';
import type { LeaderDeps } from './controller.ts';

/**
 * Milliseconds between two searches. A duplicate counts only if two searches in a row find it, because the end of a pod
 * and the status of the next pod with the same address may come from two kubelets, in any order.
 */
const interval = 5000;

type View = {
  evidence: Pick<EvidenceView, 'synced' | 'pods'>;
  readiness: Pick<Readiness, 'bootSeen'>;
};

/** Writes events about duplicate addresses while this process leads. Never throws. */
export async function watchEvidence(
  { view, leader, events }: Pick<LeaderDeps<View>, 'view' | 'leader' | 'events'>,
  signal: AbortSignal,
): Promise<void> {
  const duplicates = new DuplicateWatch();
  while (!signal.aborted) {
    const isKnown = leader?.leads === true && view.evidence.synced;
    const found = isKnown ? duplicateAddresses(view.evidence.pods()) : undefined;
    const bootedAt = (node: string): number | undefined => view.readiness.bootSeen(node);
    for (const duplicate of found ? duplicates.confirmed(found, bootedAt, Date.now()) : []) {
      if (events.capacity >= 2) for (const event of duplicateEvents(duplicate)) events.add(event);
    }
    await sleep(interval, undefined, { signal }).catch(() => {});
  }
}

/**
 * Milliseconds after a node's boot in which duplicates of its pods do not count, because statuses may be those of the
 * previous boot. The kubelet updates the statuses of 64 pods in 4.3 s.
 */
const afterBoot = 60_000;

export class DuplicateWatch {
  #seen = new Set<string>();

  /**
   * Returns the duplicates that were also found by the previous search.
   * @param bootedAt when a boot of the node was last observed
   * @param now milliseconds since the epoch
   */
  confirmed(
    found: readonly DuplicateAddress[],
    bootedAt: (node: string) => number | undefined,
    now: number,
  ): DuplicateAddress[] {
    const bySource = [...Map.groupBy(found, sourceOf).values()];
    const counted = bySource.flatMap((some) => some.slice(0, duplicatesOfNamespace));
    const seen = this.#seen;
    this.#seen = new Set(counted.map(keyOf));
    return counted.filter((duplicate) => {
      const { older, younger } = duplicate;
      const booted = Math.max(bootedAt(older.node) ?? 0, bootedAt(younger.node) ?? 0);
      return seen.has(keyOf(duplicate)) && now - booted >= afterBoot;
    });
  }
}

/** Who can cause a duplicate. Each source has its own limit, so that no source uses up the limit of another source. */
function sourceOf({ network, older, younger }: DuplicateAddress): string {
  if (network === '') return 'kubelets';
  return older.namespace === younger.namespace ? `namespace ${older.namespace}` : 'any namespace';
}

/** Identifies a duplicate. The key is the same on every replica. */
const keyOf = ({ network, address, older, younger }: DuplicateAddress): string =>
  `${network}/${address} ${older.uid} ${younger.uid}`;

/** Makes an event on each of the two pods. */
export function duplicateEvents(found: DuplicateAddress): Event[] {
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
      '. Connections to it reach either pod. Find out which pod the network gave it to, and delete the other one, without --force',
    ),
  });
  return [about(older, younger, 'younger'), about(younger, older, 'older')];
}
