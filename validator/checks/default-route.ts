import { type Failed, failed, NotReadable } from '../finding.ts';
import { codeOf, native } from '../host/native.ts';
import { type Address, type Family, parseAddress } from '../shared/addresses.ts';

export interface Route {
  device: string;
  gateway: Address | undefined;
}

/** Public addresses: a pod has no route to them except its default route. Nothing is sent to them. */
const samples: Record<Family, string> = { IPv4: '62.0.0.1', IPv6: '2600::1' };

/** Returns the default route, a failure if it discards packets, or undefined if the pod has none. */
export const defaultRoute = (family: Family): Route | Failed | undefined => routeTo(samples[family]);

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The kernel's errors for a route that discards packets (`net/ipv4/fib_semantics.c`, `fib_props`). */
const discarding: Record<string, string> = {
  EINVAL: 'blackhole',
  EHOSTUNREACH: 'unreachable',
  EACCES: 'prohibit',
};

/** The route to an address for packets whose source address the kernel chooses. */
export function routeTo(address: string): Route | Failed | undefined {
  try {
    const { device, gateway = '' } = native.route(address);
    return { device, gateway: parseAddress(gateway) };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENETUNREACH') return undefined;
    const type = discarding[code];
    if (type === undefined) throw new NotReadable(`the kernel's routes cannot be read: ${code}`);
    return failed('no-default-route', `a default route of type ${type}`);
  }
}
