import { readNetworks } from './networks.ts';
import type { Step } from './plan.ts';
import type { Pod } from './pod.ts';
import { formatAddress } from './shared/addresses.ts';
import { formatTarget, targetsOf } from './shared/targets.ts';

/** What a check expects, as the text after "expected". */
export function expectedOf({ check, family }: Step, pod: Pod): string {
  const toTargets = (connect: string[]): string => {
    const targets = family === undefined ? connect : targetsOf(connect, family).map(formatTarget);
    return `a connection to ${targets.join(' or ')}`;
  };
  if ('redirect' in check) {
    const { connect, listen, direction } = check.redirect;
    return `${toTargets(connect)} to come back to port ${listen} by the ${direction} rule`;
  }
  if ('captured' in check) {
    const { connect, listeners, outbound } = check.captured;
    return `listeners on ${listeners.join(', ')} in the pod, and ${toTargets(connect)} to end at port ${outbound}`;
  }
  if ('interfaces' in check) return interfacesOf(pod);
  if ('address' in check) {
    const own = pod.addresses.filter((address) => family === undefined || address.family === family);
    return `${own.map(formatAddress).join(', ') || 'the addresses of the pod'} on an interface of the pod`;
  }
  if ('gateway' in check) return 'the default gateway to answer at the link layer';
  if ('roundTrip' in check) return 'an answer of the node to a datagram';
  if ('witness' in check) {
    const { port, inbound } = check.witness;
    return `the kubelet's connection to port ${port}${inbound === undefined ? '' : ` to come to port ${inbound}`}`;
  }
  return `a connection to ${check.reach.host} port ${check.reach.port} to succeed`;
}

function interfacesOf({ networks, namespace }: Pod): string {
  const asked = readNetworks(networks, namespace) ?? [];
  const names = asked.map((network) => [network.name, network.interface].filter(Boolean).join('@'));
  return `an interface for each network that the pod requests (${names.join(', ') || 'none'})`;
}
