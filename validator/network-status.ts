import type { Device } from './devices.ts';
import { type Address, parseAddress } from './shared/addresses.ts';

/** An entry of `k8s.v1.cni.cncf.io/network-status`: the result for one network. */
export interface NetworkStatus {
  name: string;
  /** Absent if the plugin created no interface in the pod. */
  interface?: string;
  addresses: Address[];
  /** The link-layer address of that interface. */
  mac?: string;
  /** The cluster's own network. */
  default: boolean;
  /** It has a device of the node (`device-info`), which need not be a network interface. */
  device: boolean;
}

/**
 * Returns what Multus wrote when it created this sandbox (Network Plumbing Working Group, "Network Attachment Status"),
 * or undefined if that is unknown. The file is empty at first, and after a reboot it may have the status of the
 * previous sandbox. So a status is valid only if it has an address of this pod or, if the cluster's own network has
 * none in it, the link-layer address of an interface of this pod. Each sandbox gets new ones. An address can repeat by
 * chance, so the link-layer address of the pod's first interface must match as well, if the status has it.
 */
export function readNetworkStatus(
  text: string,
  podAddresses: Address[],
  devices: Device[],
): NetworkStatus[] | undefined {
  const entries = parse(text);
  const own = entries?.find((entry) => entry.default);
  if (!entries || !own) return undefined;
  const believed =
    own.addresses.length > 0
      ? own.addresses.some(({ hex }) => podAddresses.some((address) => address.hex === hex))
      : entries.some(
          ({ interface: name, mac }) => mac && devices.some((it) => it.name === name && it.mac === mac),
        );
  return believed && !contradicts(own, devices) ? entries : undefined;
}

/** The link-layer address of a device without one: netkit and ipvlan in their L3 modes. */
const noMac = '00:00:00:00:00:00';

/** Compares only the cluster's own network: a bond gives the interfaces of other networks one link-layer address. */
function contradicts({ interface: name, mac }: NetworkStatus, devices: Device[]): boolean {
  if (!mac) return false;
  return devices.some((it) => it.name === name && it.mac !== '' && it.mac !== noMac && it.mac !== mac);
}

function parse(text: string): NetworkStatus[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(entryOf) : undefined;
  } catch {
    return undefined;
  }
}

function entryOf(item: unknown): NetworkStatus {
  const entry = (item ?? {}) as Record<string, unknown>;
  const ips = Array.isArray(entry.ips) ? entry.ips : [];
  return {
    name: String(entry.name ?? ''),
    ...(typeof entry.interface === 'string' && entry.interface !== '' && { interface: entry.interface }),
    addresses: ips.flatMap((ip) => parseAddress(String(ip).split('/')[0] ?? '') ?? []),
    ...(typeof entry.mac === 'string' && { mac: entry.mac.toLowerCase() }),
    default: entry.default === true,
    device: entry['device-info'] !== undefined,
  };
}
