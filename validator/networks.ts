import type { Device } from './pod.ts';
import { type Address, parseAddress } from './shared/addresses.ts';
import { parseList, parseNetworks } from './shared/networks.ts';

/** A secondary network that the pod requests. */
export interface AskedNetwork {
  /** `namespace/name`, as `network-status` names it. */
  name: string;
  /** The interface name that the pod requests; absent if the pod leaves the name to Multus. */
  interface?: string;
  /** The interface name that Multus chooses if the pod requests none. */
  usualInterface: string;
}

/** A longer list is not read: judging thousands of networks would take longer than the check's time-out. */
const mostNetworks = 100;

/**
 * The networks in the annotation. Undefined if Multus cannot read the text, or if it has too many networks.
 * @param podNamespace the namespace of entries without a namespace
 */
export function readNetworks(text: string, podNamespace: string): AskedNetwork[] | undefined {
  const entries = parseNetworks(text);
  if (!entries || entries.length > mostNetworks) return undefined;
  return entries.map(({ namespace = podNamespace, name, interface: device }, index) => ({
    name: `${namespace}/${name}`,
    ...(device && { interface: device }),
    // Multus gives number 0 to the cluster's own network, so the first network of the list has number 1 (`getIfname`)
    usualInterface: `net${index + 1}`,
  }));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An entry of `k8s.v1.cni.cncf.io/network-status`, which describes one network of the pod. */
export interface NetworkStatus {
  name: string;
  /** Absent if the plugin created no interface in the pod. */
  interface?: string;
  addresses: Address[];
  /** The link-layer address of the interface. */
  mac?: string;
  /** Whether this is the cluster's own network. */
  default: boolean;
  /** Whether the network has a device of the node (`device-info`), which need not be a network interface. */
  device: boolean;
}

/**
 * Returns what Multus wrote for this sandbox; undefined if this is not certain. The file is empty at first,
 * and after a reboot may describe the previous sandbox. So it must have an address of this pod. Addresses can
 * repeat, so the link-layer address of the cluster's own network must match too, if the file has it.
 */
export function readNetworkStatus(
  text: string,
  podAddresses: Address[],
  devices: Device[],
): NetworkStatus[] | undefined {
  const entries = parseList(text)?.map(statusOf);
  const own = entries?.find((entry) => entry.default);
  if (own === undefined || contradicts(own, devices)) return undefined;
  return own.addresses.some(({ hex }) => podAddresses.some((address) => address.hex === hex))
    ? entries
    : undefined;
}

/** The link-layer address that is shown for devices without one, such as netkit and ipvlan in their L3 modes. */
const noMac = '00:00:00:00:00:00';

/** Whether the pod has the entry's interface with another link-layer address. An interface without one does not count. */
const contradicts = ({ interface: name, mac }: NetworkStatus, devices: Device[]): boolean =>
  mac !== undefined &&
  devices.some((it) => it.name === name && it.mac !== '' && it.mac !== noMac && it.mac !== mac);

function statusOf(item: unknown): NetworkStatus {
  const status = (item ?? {}) as Record<string, unknown>;
  const { name, interface: device, ips, mac, default: isDefault, 'device-info': info } = status;
  return {
    name: textOf(name),
    ...(textOf(device) !== '' && { interface: textOf(device) }),
    addresses: (Array.isArray(ips) ? ips : []).flatMap(
      (ip) => parseAddress(String(ip).split('/')[0] ?? '') ?? [],
    ),
    ...(typeof mac === 'string' && mac !== '' && { mac: mac.toLowerCase() }),
    default: isDefault === true,
    device: info !== undefined,
  };
}
