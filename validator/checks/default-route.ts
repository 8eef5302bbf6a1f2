import { type Failed, failed, NotReadable } from '../finding.ts';
import { codeOf, native } from '../host/native.ts';
import { type Address, type Family, parseAddress } from '../shared/addresses.ts';
import { isOwn } from './probe.ts';

export interface Route {
  device: string;
  gateway: Address | undefined;
}

/**
 * One address of each regional internet registry. The route that most of them have is the default route. Nothing is
 * sent to these addresses.
 */
const samples: Record<Family, string[]> = {
  IPv4: ['41.0.0.1', '62.0.0.1', '63.0.0.1', '110.0.0.1', '190.0.0.1'],
  IPv6: ['2400::1', '2600::1', '2800::1', '2a00::1', '2c00::1'],
};

/** Returns the default route, a failure if programs in the pod cannot use it, or undefined if the pod has none. */
export function defaultRoute(family: Family): Route | Failed | undefined {
  const routes: ReturnType<typeof routeTo>[] = [];
  const shareOf = (route: (typeof routes)[number]): number => routes.filter((it) => isSame(it, route)).length;
  for (const address of samples[family]) {
    const route = routeTo(address, family);
    routes.push(route);
    // the remaining samples cannot change which route most of them have
    if (shareOf(route) > samples[family].length / 2) return route;
  }
  return routes.reduce((most, route) => (shareOf(route) > shareOf(most) ? route : most));
}

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The kernel's errors for a route that discards packets (`net/ipv4/fib_semantics.c`, `fib_props`). */
const discarding: Record<string, string> = {
  EINVAL: 'blackhole',
  EHOSTUNREACH: 'unreachable',
  EACCES: 'prohibit',
};

/** The route that a program gets if the kernel chooses the source address. Connecting a UDP socket sends nothing. */
export function routeTo(address: string, family: Family): Route | Failed | undefined {
  const socket = native.datagrams(family === 'IPv4' ? 4 : 6);
  try {
    native.connect(socket, address, 9);
    const source = native.localEnd(socket).address;
    if (!isOwn(parseAddress(source))) return fromNowhere(source);
    const { device, gateway = '' } = native.route(address, source);
    return { device, gateway: parseAddress(gateway) };
  } catch (error) {
    return refusal(codeOf(error), address);
  } finally {
    native.close(socket);
  }
}

function refusal(code: string, address: string): Failed | undefined {
  if (code === 'EADDRNOTAVAIL') return failed('address-unusable', `${code} on choosing a source address`);
  try {
    native.route(address, undefined);
    return fromNowhere('another address');
  } catch {
    // there is no route from any source address
  }
  if (code === 'ENETUNREACH') return undefined;
  if (!Object.hasOwn(discarding, code)) throw new NotReadable(`the kernel's routes cannot be read: ${code}`);
  return failed('no-default-route', `a default route of type ${discarding[code]}`);
}

const fromNowhere = (source: string): Failed =>
  failed('no-default-route', `a default route with the source ${source}, which no interface has`);
