import { addressesOf, readDevices } from './devices.ts';
import { type Failed, failed } from './finding.ts';
import { type Route, readRoutes } from './proc/routes.ts';
import { type Address, formatAddress, hostOf, isLinkLocal, parseAddress } from './shared/addresses.ts';
import { formatTarget, type Target } from './shared/targets.ts';

/** How many are tried: the most likely routes come first. */
const mostSpares = 4;

/**
 * Returns the targets to try after these failed, or the failure if others would not help. Others are needed if the
 * requested ones have no route or are addresses of the pod itself: traffic to those stays on `lo`, which the outbound
 * rules of the meshes exclude.
 */
export function otherTargets(
  wanted: Target[],
  failure: Failed,
  apiServer: string | undefined,
): Target[] | Failed {
  const [first] = wanted;
  if (!first) return failure;
  const devices = readDevices();
  const own = devices.flatMap(({ addresses }) => addresses);
  const foreign = wanted.filter(({ host }) => !own.some(({ hex }) => hex === parseAddress(host)?.hex));
  if (failure.reason !== 'no-route' && foreign.length === wanted.length) return failure;
  const spares = spareTargets(first, readRoutes(first.family), addressesOf(devices), apiServer);
  const others = failure.reason === 'no-route' ? spares : [...foreign, ...spares];
  if (others.length > 0) return others;
  if (failure.reason === 'no-route') return failure;
  return failed(
    'no-target',
    `no address to connect to but the pod's own ${wanted.map(formatTarget).join(' and ')}`,
  );
}

/**
 * Addresses to connect to if the profile's have no route. A redirect happens after routing and before neighbour
 * resolution, so any address with a route will do. The pod's own addresses are excluded: they go through `lo`, which
 * linkerd's rules skip (https://github.com/linkerd/linkerd2-proxy-init). The profile's port stays, because the mesh
 * does not exclude it.
 */
export function spareTargets(wanted: Target, routes: Route[], own: Address[], apiServer = ''): Target[] {
  const api = parseAddress(apiServer);
  const hosts = [
    ...(api?.family === wanted.family ? [formatAddress(api)] : []),
    ...routes
      .filter(({ destination }) => destination.family === wanted.family)
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
  return hostOf(found, device);
}
