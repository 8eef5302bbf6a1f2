import type { WitnessCheck } from '../../../validator/shared/contract.ts';
import { getOwn } from '../../lib/maps.ts';
import { allContainers } from '../facts/pod.ts';
import type { InboundRedirect, Profile } from '../profiles/types.ts';
import type { Place } from './ids.ts';
import { allMatch } from './selection.ts';
import { portsOf, textAt, withoutOctals } from './skipped-ports.ts';

/** The longest wait for the kubelet. The kubelet connects once a second, but notices containers late on a busy node. */
const timeout = '30s';

/** The first port to try for the probe. Ports that the pod declares are skipped: peers may connect to them. */
const usualPort = 14_040;
const leastPort = 1024;

/** The subnets that contain all IPv4 and all IPv6 addresses. */
const everywhere = ['0.0.0.0/0', '::/0'];

/** The check of the witness; undefined if no profile has a witness, or if only the proxy can accept its connection. */
export function witnessFor(place: Place, profiles: readonly Profile[]): WitnessCheck | undefined {
  if (!profiles.some(({ proof }) => proof.witness !== undefined)) return undefined;
  const inbound = profiles.find(({ proof }) => proof.inbound !== undefined)?.proof.inbound;
  const used = declaredPorts(place);
  if (inbound?.transparent && allMatch(inbound.transparent, place.pod.metadata.annotations)) return undefined;
  const excluded = (inbound?.excludedBy ?? []).map((key) => textAt(place, key) ?? '').join();
  const redirected = inbound && redirectedPort(place, inbound, used, excluded);
  // no mesh redirects a port of this pod
  if (!inbound || redirected === undefined)
    return { port: firstPort(portsOf(used.join())) ?? usualPort, timeout };
  const items = excluded.split(',').map((item) => item.trim());
  // the kubelet's connection arrives at eth0, the name that container runtimes give a pod's interface
  const exempt = items.flatMap((item) => (item === 'eth0' ? everywhere : item.includes('/') ? item : []));
  return { port: redirected, inbound: inbound.port, ...(exempt.length > 0 && { exempt }), timeout };
}

/** The ports that the containers of a pod declare. */
export const declaredPorts = ({ pod }: Place): string[] =>
  allContainers(pod).flatMap(({ ports }) =>
    (Array.isArray(ports) ? ports : []).map(({ containerPort }) => String(containerPort)),
  );

/** The ports to which the pod's annotation limits the mesh's inbound redirect; undefined if there is no limit. */
export function includedPorts({ pod }: Place, inbound: InboundRedirect | undefined): string | undefined {
  const list = inbound?.includedBy && getOwn(pod.metadata.annotations, inbound.includedBy);
  return list === '*' ? undefined : list;
}

/** A port that the mesh redirects in this pod; undefined if there is none. */
function redirectedPort(
  place: Place,
  inbound: InboundRedirect,
  used: string[],
  excludedByPod: string,
): number | undefined {
  const excluded = [inbound.port, ...(inbound.neverRedirected ?? []), excludedByPod];
  const only = includedPorts(place, inbound);
  if (only === undefined) return firstPort(portsOf([...used, ...excluded].join()));
  // the mesh redirects only the listed ports, so the probe uses one of them, although the pod may serve peers there
  const [ports, skipped] = [portsOf(withoutOctals(only)), portsOf(excluded.join())];
  return firstPort(skipped.map((isSkipped, at) => Number(isSkipped === 1 || ports[at] === 0)));
}

/** The first unmarked port from the usual port upwards, or else from the least port upwards. */
export function firstPort(taken: Uint8Array): number | undefined {
  const found = [usualPort, leastPort].map((start) => taken.indexOf(0, start));
  return found.find((port) => port >= 0);
}
