import { formatAddress, isLinkLocal } from '../addresses.ts';
import type { Device } from '../devices.ts';
import { type Failed, failed } from '../finding.ts';
import type { NetworkStatus } from '../network-status.ts';
import type { AskedNetwork } from '../networks.ts';

/** What is to be said of one network that the pod asks for. */
export interface Judged {
  problem?: Failed;
  seen: string;
  /** Its addresses, or that it has no interface, are what `network-status` says. */
  confirmed: boolean;
}

/**
 * Each network's interface is there, up, and has the addresses that were given out for it.
 *
 * @param status what is known of this sandbox, if anything is
 */
export function judgeInterfaces(
  asked: AskedNetwork[],
  status: NetworkStatus[] | undefined,
  devices: Device[],
): Judged[] {
  const left = (status ?? []).filter((entry) => !entry.default);
  return asked.map((network) => {
    const at = left.findIndex((entry) => isOf(entry, network));
    const [entry] = at < 0 ? [] : left.splice(at, 1);
    if (status && !entry) return notMade(network);
    return judge(network, entry, devices);
  });
}

/** Multus names every network that it made something for: an interface that is there all the same is another's. */
function notMade({ name }: AskedNetwork): Judged {
  const seen = `${name} not in network-status of this sandbox`;
  return { problem: failed('interface-missing', seen), seen, confirmed: true };
}

/** Older releases of Multus leave the namespace out, or write the name that the plugin's own configuration has. */
function isOf(entry: NetworkStatus, { name, interface: device, usualInterface }: AskedNetwork): boolean {
  if (device !== undefined && entry.interface !== undefined) return entry.interface === device;
  if (entry.name === name || entry.name === name.slice(name.indexOf('/') + 1)) return true;
  return !entry.name.includes('/') && entry.interface === usualInterface;
}

function judge(network: AskedNetwork, entry: NetworkStatus | undefined, devices: Device[]): Judged {
  const confirmed = entry !== undefined;
  const name = network.interface ?? entry?.interface ?? network.usualInterface;
  const device = devices.find((it) => it.name === name);
  const bad = (reason: Failed['reason'], seen: string): Judged => ({
    problem: failed(reason, seen),
    seen,
    confirmed,
  });
  if (entry && entry.interface === undefined)
    return { seen: `${network.name} without an interface of its own`, confirmed };
  if (!device && entry?.device)
    return { seen: `${network.name} as a device that the kernel's network does not know`, confirmed };
  if (!device) return bad('interface-missing', `no interface ${name} for ${network.name}`);
  if (!device.up) return bad('interface-down', `interface ${name} for ${network.name} down`);
  const list =
    device.addresses
      .filter((address) => !isLinkLocal(address))
      .map(formatAddress)
      .join(', ') || 'no address';
  const missing = entry?.addresses.filter(({ hex }) => !device.addresses.some((it) => it.hex === hex)) ?? [];
  if (missing.length > 0) {
    const given = missing.map(formatAddress).join(', ');
    return bad('address-differs', `interface ${name} for ${network.name} with ${list}, not ${given}`);
  }
  if (!entry && device.addresses.every(isLinkLocal))
    return bad('interface-without-address', `interface ${name} for ${network.name} without an address`);
  return { seen: `${name} for ${network.name} with ${list}`, confirmed };
}
