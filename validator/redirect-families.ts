import type { Device } from './devices.ts';
import { type Address, type Family, isLinkLocal, isLoopback } from './shared/addresses.ts';
import type { RedirectCheck } from './shared/contract.ts';

/** The families of a pod for which a redirect is checked, and those that the mesh leaves alone by design. */
export interface RedirectFamilies {
  proved: Family[];
  leftAlone: Family[];
}

/**
 * @param fitting families of the pod for which the check has a target, the primary one first
 * @param devices the interfaces of the pod; called only if the mesh serves one family of several
 */
export function redirectFamilies(
  { direction, families }: Pick<RedirectCheck, 'direction' | 'families'>,
  fitting: Family[],
  devices: () => Device[],
): RedirectFamilies {
  const one = (families ?? (direction === 'inbound' ? 'first' : 'all')) === 'first';
  if (!one || fitting.length < 2) return { proved: fitting, leftAlone: [] };
  const first = firstFamily(devices().flatMap(({ addresses }) => addresses)) ?? fitting[0];
  return {
    proved: fitting.filter((family) => family === first),
    leftAlone: fitting.filter((family) => family !== first),
  };
}

/**
 * Returns the family of the first address that the kernel lists, without loopback and link-local ones, as istio-cni
 * chooses the family of its rules (istio/istio, `tools/common/config`, `getLocalIP`). The kernel lists all IPv4
 * addresses before all IPv6 addresses (Linux, `rtnl_dump_all`), whatever the order of `status.podIPs`.
 */
function firstFamily(addresses: Address[]): Family | undefined {
  const counted = addresses.filter((address) => !isLoopback(address) && !isLinkLocal(address));
  return counted.some(({ family }) => family === 'IPv4') ? 'IPv4' : counted[0]?.family;
}

/** The note on the families that the mesh leaves alone; undefined if there are none. */
export function leftAloneNote(proved: Family, leftAlone: Family[]): string | undefined {
  if (leftAlone.length === 0) return undefined;
  return (
    `${leftAlone.join(' and ')} was not checked: without its dual-stack option the mesh redirects only ` +
    `${proved} in this pod, and leaves ${leftAlone.join(' and ')} traffic alone`
  );
}
