import { createHash } from 'node:crypto';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import { duplicatesOfNamespace } from '../../lib/limits.ts';
import { eventReasons } from '../../lib/names.ts';
import type { DuplicateAddress } from '../../nodes/evidence/duplicates.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';

/**
 * How long two pods have to have one address before it counts, in milliseconds. A pod's end and the status of the next
 * pod with its address come from two kubelets, in any order.
 */
const confirmed = 3000;

/**
 * How long after a boot of a node nothing is concluded from its pods, in milliseconds. Their statuses show the sandboxes
 * of the previous boot until the kubelet updates them: 4.3 s with 64 pods.
 */
const afterBoot = 60_000;

/** Which duplicate addresses have lasted. Pure: times are arguments, in milliseconds since the epoch. */
export class DuplicateWatch {
  /** When each was first seen. */
  #seen = new Map<string, number>();

  /**
   * The duplicates that have lasted for long enough, as long as they last.
   *
   * @param found all that there are
   * @param bootedAt when a boot of the node was last observed; undefined if none was
   */
  confirmed(
    found: readonly DuplicateAddress[],
    bootedAt: (node: string) => number | undefined,
    now: number,
  ): DuplicateAddress[] {
    const bySource = [...Map.groupBy(found, sourceOf).values()];
    const counted = bySource.flatMap((some) => some.slice(0, duplicatesOfNamespace));
    // our clock may have been set back
    const since = (one: DuplicateAddress): number => Math.min(this.#seen.get(keyOf(one)) ?? now, now);
    this.#seen = new Map(counted.map((one) => [keyOf(one), since(one)]));
    return counted.filter((one) => {
      const { older, younger } = one;
      const booted = Math.max(bootedAt(older.node) ?? 0, bootedAt(younger.node) ?? 0);
      return now - since(one) >= confirmed && now - booted >= afterBoot;
    });
  }
}

/** Who can cause it: users of one namespace, or of any. Claims from one source take no room from those of others. */
function sourceOf({ network, older, younger }: DuplicateAddress): string {
  if (network === '') return 'kubelets';
  return older.namespace === younger.namespace ? `namespace ${older.namespace}` : 'any namespace';
}

/** The same text for the same two pods and address, on every replica. */
const keyOf = ({ network, address, older, younger }: DuplicateAddress): string =>
  `${network}/${address} ${older.uid} ${younger.uid}`;

/** The events about an address that two pods have: one on each. */
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
      `address ${address} of ${of} is also that of pod ${other.namespace}/${other.name} on node ${other.node}, the ${which} one`,
      '. Connections to it reach either pod. Find out which pod the network gave it to, and delete the other one, without --force',
    ),
  });
  return [about(older, younger, 'younger'), about(younger, older, 'older')];
}
