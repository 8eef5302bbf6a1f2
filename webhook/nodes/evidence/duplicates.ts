import type { PodEvidence } from './facts.ts';

/** Two live pods that have the same address in the same network. */
export interface DuplicateAddress {
  /** The network's name as Multus reports it; empty for the cluster's own network. */
  network: string;
  address: string;
  /** The older pod of the two. */
  older: PodEvidence;
  younger: PodEvidence;
}

/** What is read of a pod here. */
type Addressed = Pick<PodEvidence, 'uid' | 'ended' | 'leaving' | 'hasSandbox' | 'addresses' | 'createdAt'>;

/** One pod, or several with the same address. */
type Holders = PodEvidence | PodEvidence[];

/**
 * Finds the addresses that more than one live pod has. A pod that ended or has no sandbox has given its addresses back,
 * whatever its status still shows, and one that is being deleted may have. Of several pods with one address, each is reported once: with the oldest.
 *
 * @returns the trustworthy ones first; then by network, address and age
 */
export function duplicateAddresses(pods: Iterable<PodEvidence>): DuplicateAddress[] {
  const holders = new Map<string, Holders>();
  const several = new Set<string>();
  for (const pod of pods) {
    if (!holdsAddresses(pod)) continue;
    for (const address of pod.addresses) {
      const others = holders.get(address);
      if (others === undefined) holders.set(address, pod);
      // the same address twice in one pod is no duplicate
      else if (Array.isArray(others)) {
        if (!others.includes(pod)) others.push(pod);
      } else if (others !== pod) {
        holders.set(address, [others, pod]);
        several.add(address);
      }
    }
  }
  const found = Array.from(several, (key): DuplicateAddress[] => {
    const [older, ...younger] = [holders.get(key) ?? []].flat().toSorted(byAge);
    const at = key.lastIndexOf('/');
    const [network, address] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)];
    return older === undefined ? [] : younger.map((one) => ({ network, address, older, younger: one }));
  });
  return found.flat().toSorted(inOrder);
}

const holdsAddresses = ({ ended, leaving, hasSandbox }: Addressed): boolean =>
  !ended && !leaving && hasSandbox !== false;

/** Oldest first; the UID decides between pods of the same second, so that every replica has the same order. */
const byAge = (one: Addressed, other: Addressed): number =>
  one.createdAt - other.createdAt || compare(one.uid, other.uid);

const inOrder = (one: DuplicateAddress, other: DuplicateAddress): number =>
  Number(isTrustworthy(other)) - Number(isTrustworthy(one)) ||
  compare(one.network, other.network) ||
  compare(one.address, other.address) ||
  byAge(one.younger, other.younger);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/**
 * Whether users of other namespaces cannot have made it up. Only kubelets report addresses of the cluster's own network. Whoever
 * may change a pod can claim any address in another network: such a claim counts only between pods of one namespace.
 */
const isTrustworthy = ({ network, older, younger }: DuplicateAddress): boolean =>
  network === '' || older.namespace === younger.namespace;
