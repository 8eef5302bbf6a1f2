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

/** At most this many networks are read: judging thousands would take longer than the check's time-out. */
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
    // the number is the position in the list, which starts after the cluster's own network (Multus, `getIfname`)
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
  /** Whether this is the cluster's own network. */
  default: boolean;
}

/**
 * Returns what Multus wrote when it created this sandbox; undefined if that is not known: the file is empty at first,
 * and after a reboot it may describe the previous sandbox. The file counts if it has an address of this pod.
 */
export function readNetworkStatus(text: string, podAddresses: Address[]): NetworkStatus[] | undefined {
  const entries = parseList(text)?.map(statusOf);
  const own = entries?.find((entry) => entry.default)?.addresses ?? [];
  return own.some(({ hex }) => podAddresses.some((address) => address.hex === hex)) ? entries : undefined;
}

function statusOf(item: unknown): NetworkStatus {
  const status = (item ?? {}) as Record<string, unknown>;
  const { name, interface: device, ips, default: isDefault } = status;
  return {
    name: textOf(name),
    ...(textOf(device) !== '' && { interface: textOf(device) }),
    addresses: (Array.isArray(ips) ? ips : []).flatMap(
      (ip) => parseAddress(String(ip).split('/')[0] ?? '') ?? [],
    ),
    default: isDefault === true,
  };
}
