import { addressesOf, type Device, readDevices } from '../devices.ts';
import { type Finding, failed, passed } from '../finding.ts';
import type { Pod } from '../pod.ts';
import { type Address, type Family, formatAddress } from '../shared/addresses.ts';
import type { Attempt } from '../waiting.ts';

/**
 * Checks that the addresses by which the cluster knows the pod are on its interfaces. They are missing if a plugin
 * returned an address and no interface: Multus returns 0.0.0.0/0 for a pod that the API server does not know.
 */
export function attemptAddress(family: Family, pod: Pod): Attempt {
  const wanted = pod.addresses.filter((address) => address.family === family);
  return async () => judgeAddresses(wanted, readDevices());
}

/** Compares the addresses that the cluster reports for the pod with those of its interfaces. */
export function judgeAddresses(wanted: Address[], devices: Device[]): Finding {
  if (wanted.length === 0)
    return { ...failed('address-unknown', 'no address reported for the pod'), final: true };
  const there = addressesOf(devices);
  const missing = wanted.filter(({ hex }) => !there.some((address) => address.hex === hex));
  if (missing.length === 0) return passed('it there');
  const list = (addresses: Address[]): string => addresses.map(formatAddress).join(', ') || 'no address';
  const down = devices.find(
    ({ up, addresses }) => !up && addresses.some(({ hex }) => hex === missing[0]?.hex),
  );
  return failed(
    'address-missing',
    down
      ? `${list(missing)} on ${down.name}, which is down or has no carrier`
      : `no ${list(missing)}: the interfaces have ${list(there)}`,
  );
}
