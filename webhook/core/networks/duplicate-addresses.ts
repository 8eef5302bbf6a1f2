import type { PodEvidence } from '../facts/pod-evidence.ts';

/** Two live pods that have the same address in the same network. */
export interface DuplicateAddress {
  /** The network's name as Multus reports it; empty for the cluster's own network. */
  network: string;
  address: string;
  older: PodEvidence;
  younger: PodEvidence;
}

type Addressed = Pick<PodEvidence, 'uid' | 'ended' | 'leaving' | 'hasSandbox' | 'createdAt'>;

/**
 * Finds addresses that several live pods share. A pod that has ended, is being deleted or has no sandbox no longer has
 * its addresses. If more than two pods share an address, the oldest is reported with each of the others.
 */
export function duplicateAddresses(pods: Iterable<PodEvidence>): DuplicateAddress[] {
  const live = [...pods].filter(holdsAddresses);
  const oldest = new Map<string, PodEvidence>();
  for (const pod of live) {
    for (const address of pod.addresses) {
      const known = oldest.get(address);
      if (known === undefined || byAge(pod, known) < 0) oldest.set(address, pod);
    }
  }
  const found: DuplicateAddress[] = [];
  for (const younger of live) {
    for (const [index, key] of younger.addresses.entries()) {
      const older = oldest.get(key);
      // a pod may list an address twice
      if (older === undefined || older === younger || younger.addresses.indexOf(key) < index) continue;
      const at = key.lastIndexOf('/');
      found.push({ network: key.slice(0, Math.max(at, 0)), address: key.slice(at + 1), older, younger });
    }
  }
  return found;
}

const holdsAddresses = ({ ended, leaving, hasSandbox }: Addressed): boolean =>
  !ended && !leaving && hasSandbox !== false;

/** Sorts by age, and pods of the same second by UID, so that all replicas have the same order. */
const byAge = (left: Addressed, right: Addressed): number =>
  left.createdAt - right.createdAt || (left.uid < right.uid ? -1 : 1);
