import type { Device } from './devices.ts';
import { type Address, type Family, isLinkLocal, isLoopback } from './shared/addresses.ts';
import type { RedirectCheck } from './shared/contract.ts';

/** Which families of a pod a redirect is proved for, and which ones the mesh leaves alone by design. */
export interface RedirectFamilies {
  proved: Family[];
  leftAlone: Family[];
}

/**
 * @param fitting families of the pod that the check has a target of, the primary one first
 * @param devices the interfaces of the pod; asked only where the mesh serves one family of several
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
 * The family of the first address that the kernel lists, loopback and link-local ones left out: by this istio-cni
 * decides for which family it writes rules (istio/istio, `tools/common/config`, `getLocalIP`). It asks the kernel for
 * the addresses of all families at once, and the kernel answers with all of IPv4 before all of IPv6
 * (Linux, `rtnl_dump_all`), whatever the order of `status.podIPs`.
 */
function firstFamily(addresses: Address[]): Family | undefined {
  const counted = addresses.filter((address) => !isLoopback(address) && !isLinkLocal(address));
  return counted.some(({ family }) => family === 'IPv4') ? 'IPv4' : counted[0]?.family;
}

/** What a verdict says of the families that the mesh leaves alone; undefined where there are none. */
export function leftAloneNote(proved: Family, leftAlone: Family[]): string | undefined {
  if (leftAlone.length === 0) return undefined;
  return (
    `${leftAlone.join(' and ')} was not checked: without its dual-stack option the mesh redirects only ` +
    `${proved} in this pod, and leaves ${leftAlone.join(' and ')} traffic alone`
  );
}
