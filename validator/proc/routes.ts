import { type Address, addressOf } from '../shared/addresses.ts';
import { type ByteOrder, bytesOfWords, rowsOf } from './words.ts';

/** A route of the kernel. */
export interface Route {
  destination: Address;
  /** Bits of the destination that count; 0 is a default route. */
  bits: number;
  gateway?: Address;
  /** It has a gateway whose address is unknown: an IPv6 one of an IPv4 route (`net/ipv4/fib_trie.c`). */
  hiddenGateway?: true;
  device: string;
  metric: number;
}

/** `include/uapi/linux/route.h` and `ipv6_route.h`. */
const flag = { up: 0x1, gateway: 0x2, reject: 0x200, anycast: 0x100000, local: 0x80000000 };

/** The routes of `/proc/net/route`: without those of `lo` and reject routes. */
export function parseRoutes(text: string, order: ByteOrder): Route[] {
  return rowsOf(text).flatMap(
    ([device = '', destination = '', gateway = '', flags = '', , , metric = '', mask = '']) => {
      if (!/^[0-9A-F]{8}$/i.test(destination) || !usable(device, Number.parseInt(flags, 16))) return [];
      return [
        {
          destination: addressOf(bytesOfWords(destination, order)),
          bits: bitsOf(bytesOfWords(mask, order)),
          ...gatewayOf(bytesOfWords(gateway, order), Number.parseInt(flags, 16)),
          device,
          metric: Number(metric),
        },
      ];
    },
  );
}

/** The routes of `/proc/net/ipv6_route` (`net/ipv6/route.c`): without local, multicast and reject routes. */
export function parseIPv6Routes(text: string): Route[] {
  return rowsOf(text).flatMap(
    ([destination = '', bits = '', , , gateway = '', metric = '', , , flags = '', device = '']) => {
      if (!/^[0-9a-f]{32}$/.test(destination) || destination.startsWith('ff')) return [];
      if (!usable(device, Number.parseInt(flags, 16))) return [];
      return [
        {
          destination: addressOf(destination),
          bits: Number.parseInt(bits, 16),
          ...gatewayOf(gateway, Number.parseInt(flags, 16)),
          device,
          metric: Number.parseInt(metric, 16),
        },
      ];
    },
  );
}

/**
 * Returns the default route that the kernel prefers, or undefined if there is none. Two routes for half of all
 * addresses each, as VPNs write them, count as one and precede a route for all. Of several gateways, it is the first.
 */
export function defaultRoute(routes: Route[]): Route | undefined {
  const first = (length: number, destination: RegExp): Route | undefined =>
    routes
      .filter((route) => route.bits === length && destination.test(route.destination.hex))
      .sort((a, b) => a.metric - b.metric)[0];
  const [lower, upper] = [first(1, /^0/), first(1, /^8/)];
  return lower && upper ? lower : first(0, /^0/);
}

function usable(device: string, flags: number): boolean {
  return (
    device !== 'lo' && (flags & flag.up) !== 0 && (flags & (flag.reject | flag.anycast | flag.local)) === 0
  );
}

function gatewayOf(hex: string, flags: number): Pick<Route, 'gateway' | 'hiddenGateway'> {
  if (!/^0*$/.test(hex)) return { gateway: addressOf(hex) };
  return (flags & flag.gateway) === 0 ? {} : { hiddenGateway: true };
}

const bitsOf = (mask: string): number => Number.parseInt(mask, 16).toString(2).replaceAll('0', '').length;
