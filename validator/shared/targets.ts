import type { Route } from '../proc/routes.ts';
import { type Address, type Family, formatAddress, isLinkLocal, parseAddress } from './addresses.ts';

/** Where to connect to. */
export interface Target {
  family: Family;
  host: string;
  port: number;
}

/** Parses `192.0.2.2:1404` or `[2001:db8::2]:1404`. Returns undefined if the text is neither. */
export function parseTarget(text: string): Target | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2] ?? '';
  const address = parseAddress(host);
  const port = Number(match?.[3]);
  if (!address || host.includes(':') !== (match?.[1] !== undefined) || port < 1 || port > 65_535)
    return undefined;
  return { family: host.includes(':') ? 'IPv6' : 'IPv4', host, port };
}

/** The targets of one family among those texts. */
export function targetsOf(texts: string[], family: Family): Target[] {
  return texts.flatMap((text) => parseTarget(text) ?? []).filter((target) => target.family === family);
}

/** The target as {@link parseTarget} reads it. */
export function formatTarget({ family, host, port }: Target): string {
  return family === 'IPv6' ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The targets that are not addresses of the pod itself. */
export function withoutOwn(targets: Target[], own: Address[]): Target[] {
  return targets.filter(({ host }) => !own.some(({ hex }) => hex === parseAddress(host)?.hex));
}

/** How many are tried: the most likely routes come first. */
const mostSpares = 4;

/**
 * Addresses to connect to if the profile's have no route. A redirect happens after routing and before neighbour
 * resolution, so any address with a route will do. The pod's own addresses are excluded: they go through `lo`, which
 * linkerd's rules skip (https://github.com/linkerd/linkerd2-proxy-init). The profile's port stays, because the mesh
 * does not exclude it.
 */
export function spareTargets(
  wanted: Target,
  routes: Route[],
  own: Address[],
  apiServer: string | undefined,
): Target[] {
  const api = apiServer === undefined ? undefined : parseAddress(apiServer);
  const hosts = [
    ...(api?.family === wanted.family ? [formatAddress(api)] : []),
    ...routes
      .filter(({ bits, destination }) => bits > 0 && destination.family === wanted.family)
      .toSorted((a, b) => Number(isLinkLocal(a.destination)) - Number(isLinkLocal(b.destination)))
      .flatMap((route) => hostIn(route, own) ?? []),
  ];
  return [...new Set(hosts)].slice(0, mostSpares).map((host) => ({ ...wanted, host }));
}

/** An address of the route's network that is not the pod's own: the second, the third … or the only one. */
function hostIn({ destination, bits, device }: Route, own: Address[]): string | undefined {
  const { family, hex } = destination;
  const first = BigInt(`0x${hex}`);
  const size = 1n << BigInt(hex.length * 4 - bits);
  const candidates = size === 1n ? [0n] : [1n, 2n, 3n, 4n].filter((step) => step < size);
  const found = candidates
    .map((step): Address => ({ family, hex: (first + step).toString(16).padStart(hex.length, '0') }))
    .find((address) => !own.some((mine) => mine.hex === address.hex));
  if (found === undefined) return undefined;
  const text = formatAddress(found);
  return family === 'IPv6' && isLinkLocal(found) ? `${text}%${device}` : text;
}
