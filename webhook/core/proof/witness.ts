import type { WitnessCheck } from '../../../validator/shared/contract.ts';
import { getOwn } from '../../lib/maps.ts';
import { allContainers } from '../facts/pod.ts';
import type { InboundRedirect, Profile } from '../profiles/types.ts';
import type { Place } from './ids.ts';
import { allMatch } from './selection.ts';
import { portsOf, textAt } from './skipped-ports.ts';

/** How long the kubelet is awaited. It dials once a second, but on a busy node it is late to see a container. */
const timeout = '30s';

/** The port of the probe, or the next one that is free. Peers of a pod dial its ports as soon as it has an address. */
const usualPort = 14_040;
const leastPort = 1024;

/** The subnets of all addresses. */
const everywhere = ['0.0.0.0/0', '::/0'];

/** What the kubelet has to show for a pod; undefined if no profile has it as witness. */
export function witnessFor(place: Place, profiles: readonly Profile[]): WitnessCheck | undefined {
  if (!profiles.some(({ proof }) => proof.witness !== undefined)) return undefined;
  const inbound = profiles.find(({ proof }) => proof.inbound !== undefined)?.proof.inbound;
  const used = allContainers(place.pod).flatMap(({ ports }) =>
    (Array.isArray(ports) ? ports : []).map(({ containerPort }) => String(containerPort)),
  );
  if (inbound?.transparent && allMatch(inbound.transparent, place.pod.metadata.annotations)) return undefined;
  const excluded = (inbound?.excludedBy ?? []).map((key) => textAt(place, key) ?? '').join();
  const redirected = inbound && redirectedPort(place, inbound, used, excluded);
  // no port of this pod is redirected
  if (!inbound || redirected === undefined)
    return { port: firstPort(portsOf(used.join())) ?? usualPort, timeout };
  const items = excluded.split(',').map((item) => item.trim());
  // the kubelet's connection comes by eth0: container runtimes name a pod's interface so
  const exempt = items.flatMap((item) => (item === 'eth0' ? everywhere : item.includes('/') ? item : []));
  return { port: redirected, inbound: inbound.port, ...(exempt.length > 0 && { exempt }), timeout };
}

/** A port that the mesh redirects in this pod; undefined if there is none. */
function redirectedPort(
  place: Place,
  { port, includedBy, neverRedirected = [] }: InboundRedirect,
  used: string[],
  excludedByPod: string,
): number | undefined {
  const excluded = [port, ...neverRedirected, excludedByPod];
  const only = (includedBy && getOwn(place.pod.metadata.annotations, includedBy)) ?? '*';
  if (only === '*') return firstPort(portsOf([...used, ...excluded].join()));
  // a peer may dial these ports too; iptables reads a number with leading zeros as octal
  const [ports, skipped] = [portsOf(only.replaceAll(/\b0\d+/g, '')), portsOf(excluded.join())];
  return firstPort(skipped.map((isSkipped, at) => Number(isSkipped === 1 || ports[at] === 0)));
}

/** The first port that is not marked, from the usual one or else from the least. */
function firstPort(taken: Uint8Array): number | undefined {
  const found = [usualPort, leastPort].map((start) => taken.indexOf(0, start));
  return found.find((port) => port >= 0);
}
