import { type Failed, type Finding, failed, mostTelling, passed } from '../finding.ts';
import { now } from '../host/loop.ts';
import { readText } from '../host/native.ts';
import { type AskedNetwork, type NetworkStatus, readNetworkStatus, readNetworks } from '../networks.ts';
import { type Device, type Pod, readDevices } from '../pod.ts';
import { formatAddress, isLinkLocal } from '../shared/addresses.ts';
import type { InterfacesCheck } from '../shared/contract.ts';
import type { Attempt } from '../simultaneous.ts';

/**
 * How long, in milliseconds, the check waits for `network-status` if nothing else is wrong. In a test, the kubelet
 * wrote the downward API file with this annotation within 0.15 s.
 */
const patience = 5000;

/** The note on an interface that `network-status` has not confirmed yet. */
export const unconfirmed = 'network-status of this sandbox was missing, so addresses were not compared';

/**
 * Checks that each network that the pod requests has its interface, because Multus can report success without one.
 *
 * If an interface has no address, the check waits until its time is over, because only `network-status` shows whether
 * the interface should have one. If there is still no `network-status`, the check passes with a note: the interface
 * shows that Multus ran in this sandbox, and Multus creates no interface if the network's IPAM fails.
 */
export function attemptInterfaces({ devices: inUserSpace }: InterfacesCheck, pod: Pod): Attempt {
  const networks = readNetworks(pod.networks, pod.namespace);
  const patient = now() + patience;
  return async () => {
    if (!networks)
      return { ...failed('networks-unreadable', `the annotation ${cut(pod.networks)}`), final: true };
    if (networks.length === 0) return passed('no requested network', 'there is no interface to check');
    const text = pod.networkStatusFile === undefined ? '' : readText(pod.networkStatusFile);
    const devices = readDevices();
    const status = readNetworkStatus(text, pod.addresses, devices);
    const findings = judgeInterfaces(networks, status, devices, inUserSpace);
    const good = findings.filter((it) => it.passed);
    if (good.length < findings.length) return mostTelling(findings.filter((it) => !it.passed));
    const seen = good.map((it) => it.seen).join('; ');
    const notes = good.flatMap(({ note }) => note ?? []);
    if (!notes.includes(unconfirmed)) return passed(seen, notes.join('; ') || undefined);
    const isWaiting = now() < patient || good.some(({ preliminary }) => preliminary);
    return { ...passed(seen, unconfirmed), ...(isWaiting && { preliminary: true }) };
  };
}

const cut = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Checks that each network's interface exists, is up, and has the addresses in `status`, if `status` is known. */
export function judgeInterfaces(
  asked: AskedNetwork[],
  status: NetworkStatus[] | undefined,
  devices: Device[],
  inUserSpace = false,
): Finding[] {
  const left = (status ?? []).filter((entry) => !entry.default);
  const pairs = asked.map((network) => {
    const at = left.findIndex((entry) => isOf(entry, network));
    const [entry] = at < 0 ? [] : left.splice(at, 1);
    return { network, entry };
  });
  return pairs.map(({ network, entry }) => {
    if (!entry) return judgeUnlisted(network, status, devices);
    return judgeEntry(network, entry, devices, inUserSpace);
  });
}

/** Whether an entry describes this network. The pod may request several interfaces of one network. */
const isOf = (entry: NetworkStatus, { name, interface: device }: AskedNetwork): boolean =>
  device !== undefined && entry.interface !== undefined ? entry.interface === device : entry.name === name;

/** Judges a network that `network-status` lists: its interface must exist, and have the listed addresses. */
function judgeEntry(
  network: AskedNetwork,
  entry: NetworkStatus,
  devices: Device[],
  inUserSpace: boolean,
): Finding {
  if (entry.interface === undefined && entry.addresses.length === 0)
    return passed(`${network.name} without an interface of its own`);
  const name = network.interface ?? entry.interface ?? network.usualInterface;
  const device = devices.find((it) => it.name === name);
  if (!device && (entry.device || inUserSpace)) {
    const note = entry.device ? undefined : `${name} is missing, or driven in user space`;
    return passed(`${network.name} as a device that the kernel's network does not know`, note);
  }
  if (!device) return absent(network, name);
  if (!device.up) return down(network, name);
  const missing = entry.addresses.filter(({ hex }) => !device.addresses.some((it) => it.hex === hex));
  if (missing.length === 0) return passed(found(network, device));
  const given = missing.map(formatAddress).join(', ');
  const seen = `interface ${name} for ${network.name} with ${addressesOf(device)}, not ${given}`;
  return failed('address-differs', seen);
}

/**
 * Judges a network that `network-status` does not list. If there is a status of this sandbox, all plugins succeeded
 * (Multus, `CmdAdd`), but Istio's plugin creates no interface, and plugins of CNI 0.2.0 cannot report theirs, so a
 * missing interface is only noted. Without a status, the interface must exist.
 */
function judgeUnlisted(
  network: AskedNetwork,
  status: NetworkStatus[] | undefined,
  devices: Device[],
): Finding {
  const name = network.interface ?? network.usualInterface;
  const other = status?.find((entry) => entry.interface === name);
  const device = other ? undefined : devices.find((it) => it.name === name);
  const notListed = `network-status of this sandbox does not list ${network.name}`;
  if (device && !device.up) return down(network, name);
  if (device && status) return passed(found(network, device), `${notListed}, so addresses were not compared`);
  if (device) {
    const finding = passed(found(network, device), unconfirmed);
    // only `network-status` shows whether the interface should have an address
    return device.addresses.every(isLinkLocal) ? { ...finding, preliminary: true } : finding;
  }
  if (!status) return absent(network, name);
  const seen = other
    ? `no interface for ${network.name}: ${name} is that of ${other.name}`
    : `no interface ${name} for ${network.name}`;
  return passed(seen, `${notListed}: its plugin reported no interface`);
}

const absent = (network: AskedNetwork, name: string): Failed =>
  failed('interface-missing', `no interface ${name} for ${network.name}`);

const down = (network: AskedNetwork, name: string): Failed =>
  failed('interface-down', `interface ${name} for ${network.name} down`);

const found = ({ name }: AskedNetwork, device: Device): string =>
  `${device.name} for ${name} with ${addressesOf(device)}`;

const addressesOf = ({ addresses }: Device): string =>
  addresses
    .filter((address) => !isLinkLocal(address))
    .map(formatAddress)
    .join(', ') || 'no address';
