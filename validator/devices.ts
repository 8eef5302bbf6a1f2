import { native } from './host/native.ts';
import { type Address, parseAddress } from './shared/addresses.ts';

/** A network interface of this network namespace. */
export interface Device {
  name: string;
  /** It is up, and its link works: many devices never say more (https://docs.kernel.org/networking/operstates.html). */
  up: boolean;
  /** It has neighbours to resolve: `tun`, IPVLAN and netkit in their L3 modes have none. */
  neighbours: boolean;
  addresses: Address[];
  /** The link-layer address, six bytes separated by colons, or an empty text. */
  mac: string;
}

/** `include/uapi/linux/if.h` */
const flag = { up: 0x1, pointToPoint: 0x10, running: 0x40, noArp: 0x80 };

/** Returns the interfaces with their addresses, including `lo`. */
export function readDevices(): Device[] {
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

/** The addresses of all interfaces that work, except those of `lo`. */
export function addressesOf(devices: Device[]): Address[] {
  return devices.filter(({ name, up }) => name !== 'lo' && up).flatMap(({ addresses }) => addresses);
}
