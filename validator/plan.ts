import { addressesOf, type Device } from './devices.ts';
import { type Failed, failed } from './finding.ts';
import type { Pod } from './pod.ts';
import type { AskedCheck } from './read-checks.ts';
import { type Address, type Family, isLinkLocal, isLoopback } from './shared/addresses.ts';
import type { RedirectCheck } from './shared/contract.ts';
import { targetsOf } from './shared/targets.ts';

/** A check for one address family, or for the pod as a whole. */
export interface Step extends AskedCheck {
  family?: Family;
  /** Families of the pod that the mesh leaves alone by design: the verdict names them. */
  leftAlone?: Family[];
  /** The failure, if the check cannot pass whatever the network is. */
  settled?: Failed;
}

/** The families of a pod that a check covers, and those that the mesh leaves alone by design. */
interface Families {
  proved: Family[];
  leftAlone: Family[];
}

/**
 * Returns the steps to run in parallel. A check without a family of the pod becomes a step that fails, so no check is
 * lost.
 *
 * @param devices the interfaces of the pod; called only if a mesh chooses one family by them
 */
export function plan(
  asked: AskedCheck[],
  pod: Pick<Pod, 'families'>,
  devices: () => Device[] = () => [],
): Step[] {
  return asked.flatMap((check): Step[] => {
    const families = familiesFor(check, pod.families, devices);
    if (families === undefined) return [check];
    const { proved, leftAlone } = families;
    if (proved.length === 0) return [{ ...check, settled: noFamily(pod.families) }];
    return proved.map((family) => ({ ...check, family, ...(leftAlone.length > 0 && { leftAlone }) }));
  });
}

/** Returns the families that a check covers, or undefined if it covers the pod as a whole. */
function familiesFor(
  { check }: AskedCheck,
  families: Family[],
  devices: () => Device[],
): Families | undefined {
  if ('interfaces' in check || 'reach' in check) return undefined;
  if ('address' in check || 'gateway' in check || 'roundTrip' in check)
    return { proved: families, leftAlone: [] };
  // the kubelet dials the primary address
  if ('witness' in check) return { proved: families.slice(0, 1), leftAlone: [] };
  const { connect } = 'redirect' in check ? check.redirect : check.captured;
  // a profile without a target of a family does not check that family
  const fitting = families.filter((family) => targetsOf(connect, family).length > 0);
  return 'redirect' in check
    ? redirectFamilies(check.redirect, fitting, devices)
    : { proved: fitting, leftAlone: [] };
}

function noFamily(families: Family[]): Failed {
  if (families.length === 0) return failed('address-unknown', 'no address of the pod');
  return failed('no-target', `a pod that has ${families.join(' and ')} only`);
}

/**
 * @param fitting families of the pod for which the check has a target, the primary one first
 * @param devices the interfaces of the pod; called only if the mesh serves one family of several
 */
function redirectFamilies(
  { direction, families }: Pick<RedirectCheck, 'direction' | 'families'>,
  fitting: Family[],
  devices: () => Device[],
): Families {
  const one = (families ?? (direction === 'inbound' ? 'first' : 'all')) === 'first';
  if (!one || fitting.length < 2) return { proved: fitting, leftAlone: [] };
  const first = firstFamily(addressesOf(devices())) ?? fitting[0];
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
