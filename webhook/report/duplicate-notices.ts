import { createHash } from 'node:crypto';
import { aboutPod, fitNote, type Notice } from '../events/notice.ts';
import { type DuplicateAddress, keyOf } from '../evidence/duplicates.ts';
import type { PodEvidence } from '../evidence/facts.ts';
import { eventReasons } from '../lib/names.ts';

/** The events about an address that two pods have: one on each. */
export function duplicateNotices(found: DuplicateAddress): Notice[] {
  const { network, address, older, younger } = found;
  const of = network === '' ? 'the pod network' : `network ${network}`;
  const occasion = createHash('sha256').update(keyOf(found)).digest('hex').slice(0, 16);
  const about = (pod: PodEvidence, other: PodEvidence, which: string): Notice => ({
    regarding: aboutPod(pod),
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
