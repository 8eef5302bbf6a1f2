import { type Failed, type Finding, failed } from './finding.ts';
import { readDevices } from './pod.ts';
import type { Reason } from './reasons.ts';
import {
  type Address,
  type Family,
  formatAddress,
  hostOf,
  isLinkLocal,
  parseAddress,
} from './shared/addresses.ts';
import { type Target, targetsOf } from './shared/targets.ts';
import { bytesOfWords, readTable } from './sockets.ts';

/** At most this many spare addresses are tried, the most promising first. */
const mostSpares = 8;

/** At most this many lines of the routing table are read: a pod may have thousands of routes. */
const mostRoutes = 100;

/** Connects to a target, and returns what the connection shows about the mesh's rules. */
export type Ask = (target: Target) => Promise<Finding>;

/** Tries the profile's addresses except the pod's own, to which no rule applies; if none has a route, spare ones. */
export async function askOutside(
  connect: string[],
  family: Family,
  apiServer: string | undefined,
  ask: Ask,
): Promise<Finding> {
  const own = readDevices().flatMap(({ addresses }) => addresses);
  const wanted = targetsOf(connect, family);
  const foreign = wanted.filter(({ host }) => !own.some(({ hex }) => hex === parseAddress(host)?.hex));
  const finding =
    foreign.length > 0 ? await askAll(foreign, ask) : failed('no-route', "no address but the pod's own");
  if (finding.passed || finding.reason !== 'no-route') return finding;
  const port = wanted[0]?.port ?? 0;
  const spares = spareHosts(family, own, apiServer).map((host): Target => ({ family, host, port }));
  return spares.length > 0 ? askAll(spares, ask) : finding;
}

/**
 * The API server's address, and addresses to which the pod has a route. Each of them is suitable, because a redirect
 * happens after routing and before neighbour resolution. The port is the profile's, which the mesh redirects.
 */
export function spareHosts(family: Family, own: Address[], apiServer = ''): string[] {
  const api = parseAddress(apiServer);
  const routed = routedAddresses(family)
    .filter(({ address }) => !own.some(({ hex }) => hex === address.hex))
    .toSorted((a, b) => Number(isLinkLocal(a.address)) - Number(isLinkLocal(b.address)));
  const hosts = [
    ...(api?.family === family ? [formatAddress(api)] : []),
    ...routed.map(({ device, address }) => hostOf(address, device)),
  ];
  return [...new Set(hosts)].slice(0, mostSpares);
}

/** The destinations in `/proc/net/route` or `ipv6_route`, but not the default route; each with two nearby addresses. */
function routedAddresses(family: Family): { device: string; address: Address }[] {
  const isIPv4 = family === 'IPv4';
  const lines = readTable(isIPv4 ? '/proc/net/route' : '/proc/net/ipv6_route').split('\n', mostRoutes);
  return lines.flatMap((line) => {
    const row = line.trim().split(/\s+/);
    const [device = '', hex = ''] = isIPv4 ? [row[0], bytesOfWords(row[1] ?? '')] : [row.at(-1), row[0]];
    if (device === 'lo' || !/^[0-9a-f]*[1-9a-f][0-9a-f]*$/.test(hex) || hex.startsWith('ff')) return [];
    const last = Number.parseInt(hex.slice(-1), 16);
    return [1, 0, 2].map((bits) => ({
      device,
      address: { family, hex: hex.slice(0, -1) + (last | bits).toString(16) },
    }));
  });
}

/** Reasons of failures, the most informative first. */
const telling: Reason[] = ['answered-by-someone-else', 'not-redirected', 'not-captured', 'no-route'];

/** Tries all targets, and returns the first finding that passes, otherwise the most informative failure. */
export async function askAll(targets: Target[], ask: Ask): Promise<Finding> {
  const some = Promise.any(
    targets.map(async (target) => {
      const finding = await ask(target);
      return finding.passed ? finding : Promise.reject(finding);
    }),
  );
  return some.catch(({ errors }: { errors: Failed[] }) => worstFailure(errors));
}

export function worstFailure(found: Failed[]): Failed {
  const reason = telling.find((it) => found.some((finding) => finding.reason === it)) ?? 'not-redirected';
  const same = found.filter((finding) => finding.reason === reason);
  return failed(reason, same.map(({ seen }) => seen).join(', '));
}
