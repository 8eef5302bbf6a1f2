import type { Device } from '../devices.ts';
import { type Failed, failed } from '../finding.ts';
import type { NetworkStatus } from '../network-status.ts';
import type { AskedNetwork } from '../networks.ts';
import { formatAddress, isLinkLocal } from '../shared/addresses.ts';

/** What is to be said of one network that the pod asks for. */
export interface InterfaceResult {
  problem?: Failed;
  seen: string;
  /** What was not looked at, and why that is right. */
  note?: string;
  /** Nothing that `network-status` could still say would change it. */
  confirmed: boolean;
  /** It has no address, and only `network-status` can tell whether it should have one. */
  addressless?: true;
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
): InterfaceResult[] {
  const left = (status ?? []).filter((entry) => !entry.default);
  const pairs = asked.map((network) => {
    const at = left.findIndex((entry) => isOf(entry, network));
    const [entry] = at < 0 ? [] : left.splice(at, 1);
    return { network, entry };
  });
  return pairs.map(({ network, entry }) => {
    if (entry) return judgeEntry(network, entry, devices);
    return status ? judgeNotListed(network, status, devices) : judgeUnknown(network, devices);
  });
}

/** Older releases of Multus leave the namespace out, or write the name that the plugin's own configuration has. */
function isOf(entry: NetworkStatus, { name, interface: device, usualInterface }: AskedNetwork): boolean {
  if (device !== undefined && entry.interface !== undefined) return entry.interface === device;
  if (entry.name === name || entry.name === name.slice(name.indexOf('/') + 1)) return true;
  return !entry.name.includes('/') && entry.interface === usualInterface;
}

/** Of a network that `network-status` lists: what it says was made has to be there. */
function judgeEntry(network: AskedNetwork, entry: NetworkStatus, devices: Device[]): InterfaceResult {
  if (entry.interface === undefined) return sound(`${network.name} without an interface of its own`);
  const name = network.interface ?? entry.interface;
  const device = devices.find((it) => it.name === name);
  if (!device && entry.device)
    return sound(`${network.name} as a device that the kernel's network does not know`);
  if (!device) return absent(network, name);
  if (!device.up) return down(network, name);
  const missing = entry.addresses.filter(({ hex }) => !device.addresses.some((it) => it.hex === hex));
  if (missing.length === 0) return sound(found(network, device));
  const given = missing.map(formatAddress).join(', ');
  const seen = `interface ${name} for ${network.name} with ${addressesOf(device)}, not ${given}`;
  return wrong('address-differs', seen);
}

/**
 * Of a network that the status of this sandbox does not list. Multus has then run for this pod, and every plugin
 * succeeded: one that fails takes the whole sandbox with it (Multus, `CmdAdd`). It lists only interfaces that a plugin
 * told of (network-attachment-definition-client, `CreateNetworkStatuses`): those of Istio make none, and those without
 * a `cniVersion`, or with 0.2.0, cannot tell. So an interface that is there is judged, and one that is not is noted.
 */
function judgeNotListed(network: AskedNetwork, status: NetworkStatus[], devices: Device[]): InterfaceResult {
  const name = network.interface ?? network.usualInterface;
  const other = status.find((entry) => entry.interface === name);
  const device = other ? undefined : devices.find((it) => it.name === name);
  const notListed = `network-status of this sandbox does not list ${network.name}`;
  if (device && !device.up) return down(network, name);
  if (device && lacksAskedAddress(network, device)) return withoutAddress(network, name);
  if (device)
    return { ...sound(found(network, device)), note: `${notListed}, so addresses were not compared` };
  // a pod that asks for an address there asks for an interface
  if (network.asksAddress) return absent(network, name);
  const seen = other
    ? `no interface for ${network.name}: ${name} is that of ${other.name}`
    : `no interface ${name} for ${network.name}`;
  return { ...sound(seen), note: `${notListed}: its plugin told of no interface` };
}

/** Of a network while it is not known what Multus did in this sandbox, or whether it ran at all. */
function judgeUnknown(network: AskedNetwork, devices: Device[]): InterfaceResult {
  const name = network.interface ?? network.usualInterface;
  const device = devices.find((it) => it.name === name);
  if (!device) return absent(network, name);
  if (!device.up) return down(network, name);
  if (lacksAskedAddress(network, device)) return withoutAddress(network, name);
  const result = { seen: found(network, device), confirmed: false };
  return isAddressless(device) ? { ...result, addressless: true } : result;
}

const absent = (network: AskedNetwork, name: string): InterfaceResult =>
  wrong('interface-missing', `no interface ${name} for ${network.name}`);

const down = (network: AskedNetwork, name: string): InterfaceResult =>
  wrong('interface-down', `interface ${name} for ${network.name} down`);

const withoutAddress = (network: AskedNetwork, name: string): InterfaceResult =>
  wrong('interface-without-address', `interface ${name} for ${network.name} without an address`);

const isAddressless = ({ addresses }: Device): boolean => addresses.every(isLinkLocal);

const lacksAskedAddress = ({ asksAddress }: AskedNetwork, device: Device): boolean =>
  asksAddress === true && isAddressless(device);

const wrong = (reason: Failed['reason'], seen: string): InterfaceResult => ({
  problem: failed(reason, seen),
  seen,
  confirmed: true,
});

const sound = (seen: string): InterfaceResult => ({ seen, confirmed: true });

const found = ({ name }: AskedNetwork, device: Device): string =>
  `${device.name} for ${name} with ${addressesOf(device)}`;

const addressesOf = ({ addresses }: Device): string =>
  addresses
    .filter((address) => !isLinkLocal(address))
    .map(formatAddress)
    .join(', ') || 'no address';
