import { native } from './host/native.ts';
import { type Address, type Family, isLinkLocal, parseAddress } from './shared/addresses.ts';
import { env } from './shared/contract.ts';

export interface Pod {
  /** `status.podIPs`, the primary address first. */
  addresses: Address[];
  /** `status.hostIPs`. */
  nodeAddresses: Address[];
  /** The address families of the pod, the primary one first. */
  families: Family[];
  namespace: string;
  networks: string;
  networkStatusFile: string | undefined;
  /** The service address of the API server, from a variable that the kubelet sets in every container. */
  apiServer: string | undefined;
  userId: number;
  groupId: number;
}

type Environment = Record<string, string | undefined>;

/** @param devices called only if the environment has no addresses of the pod */
export function readPod(
  environment: Environment,
  userId: number,
  devices: () => Device[],
  groupId = userId,
): Pod {
  const addressesIn = (text = ''): Address[] =>
    text.split(',').flatMap((address) => parseAddress(address.trim()) ?? []);
  const addresses = addressesIn(environment[env.podIPs]);
  const known = addresses.length > 0 ? addresses : addressesOf(devices()).filter((it) => !isLinkLocal(it));
  return {
    addresses,
    nodeAddresses: addressesIn(environment[env.nodeIPs]),
    families: [...new Set(known.map(({ family }) => family))],
    namespace: environment[env.podNamespace] ?? '',
    networks: environment[env.networks] ?? '',
    networkStatusFile: environment[env.networkStatusFile] || undefined,
    apiServer: environment.KUBERNETES_SERVICE_HOST || undefined,
    userId,
    groupId,
  };
}

/** A network interface of this network namespace. */
export interface Device {
  name: string;
  /** Whether the flags UP and RUNNING are set. Many drivers leave the operational state `unknown` (https://docs.kernel.org/networking/operstates.html). */
  up: boolean;
  /** Whether the device resolves link-layer addresses, unlike `tun`, and IPVLAN and netkit in their L3 modes. */
  neighbours: boolean;
  addresses: Address[];
  /** The link-layer address, six bytes separated by colons, or an empty text. */
  mac: string;
}

/** Flags of `include/uapi/linux/if.h`. */
const flag = { up: 0x1, pointToPoint: 0x10, running: 0x40, noArp: 0x80 };

/** How many milliseconds a list of interfaces is reused, so that checks that start together share a list. */
const moment = 5;

let last: { devices: Device[]; at: number } | undefined;

/** Returns the interfaces with their addresses, including `lo`. */
export function readDevices(): Device[] {
  if (!last || native.now() - last.at >= moment) last = { devices: listDevices(), at: native.now() };
  return last.devices;
}

function listDevices(): Device[] {
  const devices = new Map<string, Device>();
  for (const { name, flags, address, mac } of native.interfaces()) {
    const device = devices.get(name) ?? {
      name,
      up: (flags & flag.up) !== 0 && (flags & flag.running) !== 0,
      neighbours: (flags & (flag.pointToPoint | flag.noArp)) === 0,
      addresses: [],
      mac: '',
    };
    devices.set(name, device);
    if (mac !== undefined) device.mac = mac;
    if (address !== undefined) device.addresses.push(...[parseAddress(address) ?? []].flat());
  }
  return [...devices.values()];
}

/** The addresses of all interfaces that are up and running, except `lo`. */
export function addressesOf(devices: Device[]): Address[] {
  return devices.filter(({ name, up }) => name !== 'lo' && up).flatMap(({ addresses }) => addresses);
}

/**
 * The addresses of the pod, including those of `lo`: a MASQUERADE rule may make any of them the source of a connection.
 * A connection from outside cannot have one of them as its source, because the answer would stay on `lo`.
 */
export const ownAddresses = (): Address[] => readDevices().flatMap(({ addresses }) => addresses);

export const isOwn = (address: Address | undefined): boolean =>
  ownAddresses().some(({ hex }) => hex === address?.hex);
