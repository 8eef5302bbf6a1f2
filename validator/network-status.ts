import type { Device } from './devices.ts';
import { type Address, parseAddress } from './shared/addresses.ts';

/** An entry of `k8s.v1.cni.cncf.io/network-status`: what came of one network. */
export interface NetworkStatus {
  name: string;
  /** Absent where the plugin made no interface in the pod. */
  interface?: string;
  addresses: Address[];
  /** The link-layer address of that interface. */
  mac?: string;
  /** The cluster's own network. */
  default: boolean;
  /** It came with a device of the node (`device-info`), which the kernel's network need not know. */
  device: boolean;
}

/**
 * What Multus wrote when it made this sandbox (Network Plumbing Working Group, "Network Attachment Status"), or
 * undefined while that is not known. The file is empty at first, or after a reboot still holds what was written for
 * the sandbox before: only what has an address of this pod is believed, or, where the cluster's own network tells
 * none, the link-layer address of an interface of this pod. Both are given out for each sandbox anew. An address may
 * come again by chance, so a status whose link-layer address of the pod's first interface is another one is not believed.
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

/** What a device without a link-layer address has: netkit and ipvlan in their L3 modes. */
const noMac = '00:00:00:00:00:00';

/** Only the cluster's own network is asked: a bond gives the interfaces of others one link-layer address. */
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
