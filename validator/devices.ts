import { platform } from './platform.ts';
import { readText } from './read-text.ts';
import { type Address, parseAddress } from './shared/addresses.ts';

/** A network interface of this network namespace. */
export interface Device {
  name: string;
  up: boolean;
  addresses: Address[];
  /** The link-layer address, six bytes separated by colons, or an empty text. */
  mac: string;
}

/** `include/uapi/linux/if.h` */
const flag = { up: 0x1, pointToPoint: 0x10, noArp: 0x80 };

/** Returns the interfaces with their addresses, including `lo`. */
export function readDevices(): Device[] {
  const running = platform.networkInterfaces();
  const names = new Set([...deviceNames(readText('/proc/net/dev')), ...Object.keys(running)]);
  return [...names].map((name) => ({
    name,
    up: name in running || isUp(readSys(name, 'flags'), readSys(name, 'operstate')),
    addresses: (running[name] ?? []).flatMap(({ address }) => parseAddress(address) ?? []),
    mac: running[name]?.[0]?.mac ?? readSys(name, 'address').trim(),
  }));
}

/** All addresses but those of `lo`. */
export function addressesOf(devices: Device[]): Address[] {
  return devices.filter(({ name }) => name !== 'lo').flatMap(({ addresses }) => addresses);
}

/**
 * Whether an interface without an address is up, by `/sys/class/net/<name>/flags` and `operstate`. Many devices
 * never leave `unknown` (https://docs.kernel.org/networking/operstates.html): only what says it is down counts.
 */
export function isUp(flags: string, state: string): boolean {
  const on = (Number.parseInt(flags, 16) & flag.up) !== 0;
  return on && !['down', 'lowerlayerdown', 'notpresent'].includes(state.trim());
}

/** Whether an interface has no neighbours to resolve: `tun`, IPVLAN and netkit in their L3 modes. */
export function hasNoNeighbours(name: string): boolean {
  return (Number.parseInt(readSys(name, 'flags'), 16) & (flag.pointToPoint | flag.noArp)) !== 0;
}

const readSys = (name: string, file: string): string => readText(`/sys/class/net/${name}/${file}`);

/**
 * The names in `/proc/net/dev`, which has every interface of the reader's own network namespace: a name, a colon, and
 * numbers (`net/core/net-procfs.c`).
 */
export function deviceNames(text: string): string[] {
  return text.split('\n').flatMap((line) => /^\s*([^\s|]+):\s*\d/.exec(line)?.[1] ?? []);
}
