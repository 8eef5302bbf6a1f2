import { createHash } from 'node:crypto';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import { eventReasons } from '../../lib/names.ts';
import { type DuplicateAddress, keyOf } from '../../nodes/evidence/duplicates.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';

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
