import { codeOf, native } from '../host/native.ts';
import { type Address, addressOf, type Family, parseAddress } from '../shared/addresses.ts';
import { bytesOfWords, NotReadable, readTable, rowsOf } from './tables.ts';

/** An address outside of every cluster: those are for documentation (RFC 5737, RFC 3849). */
export const outside: Record<Family, string> = { IPv4: '192.0.2.2', IPv6: '2001:db8::2' };

/** The kernel's errors for a route that discards packets (`net/ipv4/fib_semantics.c`, `fib_props`). */
const discarding: Record<string, string> = {
  EINVAL: 'blackhole',
  EHOSTUNREACH: 'unreachable',
  EACCES: 'prohibit',
};

/**
 * Returns the route that the kernel takes to the outside: of several default routes, that with the lowest metric. A text
 * says what is there instead of a route that leads somewhere.
 */
export function defaultRoute(family: Family): { device: string; gateway?: Address } | string {
  try {
    const { device, gateway } = native.route(outside[family]);
    const address = parseAddress(gateway ?? '');
    return { device, ...(address && { gateway: address }) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENETUNREACH') return 'no default route';
    if (!Object.hasOwn(discarding, code))
      throw new NotReadable(`the kernel's routes cannot be read: ${code}`);
    return `a default route of type ${discarding[code]}`;
  }
}

/** A network that the pod has a route to. */
export interface Route {
  destination: Address;
  /** Bits of the destination that count. */
  bits: number;
  device: string;
}

/** `include/uapi/linux/route.h` and `ipv6_route.h`. */
const flag = { up: 0x1, reject: 0x200, anycast: 0x100000, local: 0x80000000 };

/** The first routes of one family in this network namespace, without default, local, multicast and reject routes. */
export function readRoutes(family: Family): Route[] {
  return family === 'IPv4'
    ? parseRoutes(readTable('/proc/net/route'))
    : parseIPv6Routes(readTable('/proc/net/ipv6_route'));
}

/** The routes of `/proc/net/route`. */
export function parseRoutes(text: string): Route[] {
  return rowsOf(text).flatMap(([device = '', to = '', , flags = '', , , , mask = '']): Route[] => {
    if (!/^[0-9A-F]{8}$/i.test(to)) return [];
    const bits = Number.parseInt(mask, 16).toString(2).replaceAll('0', '').length;
    return usable({ destination: addressOf(bytesOfWords(to)), bits, device }, flags);
  });
}

/** The routes of `/proc/net/ipv6_route` (`net/ipv6/route.c`), which prints bytes in order. */
export function parseIPv6Routes(text: string): Route[] {
  return rowsOf(text).flatMap(([to = '', length = '', , , , , , , flags = '', device = '']): Route[] => {
    if (!/^[0-9a-f]{32}$/.test(to) || to.startsWith('ff')) return [];
    return usable({ destination: addressOf(to), bits: Number.parseInt(length, 16), device }, flags);
  });
}

/** The route, if a packet can take it. */
function usable(route: Route, flagsText: string): Route[] {
  const flags = Number.parseInt(flagsText, 16);
  const unusable = (flags & (flag.reject | flag.anycast | flag.local)) !== 0;
  return route.device === 'lo' || route.bits === 0 || (flags & flag.up) === 0 || unusable ? [] : [route];
}
