import { type Address, addressOf, type Family } from '../shared/addresses.ts';
import { bytesOfWords, readTable, rowsOf } from './tables.ts';

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

/** The routes of one family in this network namespace, without local, multicast and reject routes. */
export function readRoutes(family: Family): Route[] {
  return family === 'IPv4'
    ? parseRoutes(readTable('/proc/net/route'))
    : parseIPv6Routes(readTable('/proc/net/ipv6_route'));
}

/** The routes of `/proc/net/route`. */
export function parseRoutes(text: string): Route[] {
  return rowsOf(text).flatMap(
    ([device = '', to = '', gateway = '', flags = '', , , metric = '', mask = '']): Route[] => {
      if (!/^[0-9A-F]{8}$/i.test(to)) return [];
      const destination = addressOf(bytesOfWords(to));
      const bits = Number.parseInt(mask, 16).toString(2).replaceAll('0', '').length;
      return routeOf({ destination, bits, device, metric: Number(metric) }, bytesOfWords(gateway), flags);
    },
  );
}

/** The routes of `/proc/net/ipv6_route` (`net/ipv6/route.c`), which prints bytes in order. */
export function parseIPv6Routes(text: string): Route[] {
  return rowsOf(text).flatMap(
    ([to = '', length = '', , , gateway = '', metric = '', , , flags = '', device = '']): Route[] => {
      if (!/^[0-9a-f]{32}$/.test(to) || to.startsWith('ff')) return [];
      const [bits = 0, cost = 0] = [length, metric].map((text) => Number.parseInt(text, 16));
      return routeOf({ destination: addressOf(to), bits, device, metric: cost }, gateway, flags);
    },
  );
}

/** The route with its gateway, if a packet can take it. */
function routeOf(route: Route, gateway: string, flagsText: string): Route[] {
  const flags = Number.parseInt(flagsText, 16);
  const unusable = (flags & (flag.reject | flag.anycast | flag.local)) !== 0;
  if (route.device === 'lo' || (flags & flag.up) === 0 || unusable) return [];
  if (!/^0*$/.test(gateway)) return [{ ...route, gateway: addressOf(gateway) }];
  return [(flags & flag.gateway) === 0 ? route : { ...route, hiddenGateway: true }];
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
