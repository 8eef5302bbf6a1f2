import { type Failed, failed } from './finding.ts';
import type { AskedCheck } from './input.ts';
import { readNetworks } from './networks.ts';
import { addressesOf, type Device, type Pod } from './pod.ts';
import { type Address, type Family, formatAddress, isLinkLocal, isLoopback } from './shared/addresses.ts';
import type { Check, RedirectCheck } from './shared/contract.ts';
import { formatTarget, ofFamilies, targetsOf } from './shared/targets.ts';

/** A check for one address family, or for the pod as a whole. */
export interface Step extends AskedCheck {
  family?: Family;
  /** What is not checked, and why: a note on the result of a check that passed. */
  note?: string;
  /** Set in a recheck, when the proxy already listens on its port: see {@link laterForm}. */
  isLater?: true;
  /** Set if the check has already failed, for a reason that does not depend on the network. */
  settled?: Failed;
}

/**
 * Returns the steps to run in parallel. A check without a target for the pod's families becomes a failed step, instead
 * of no step. `devices` is called only for a mesh that serves one family, because the devices show which family.
 */
export function plan(
  asked: AskedCheck[],
  pod: Pick<Pod, 'families'>,
  devices: () => Device[] = () => [],
): Step[] {
  return asked.flatMap((asking): Step[] => {
    const { check } = asking;
    if ('interfaces' in check || 'reach' in check) return [asking];
    if ('policy' in check) {
      const lists = [check.policy.blocked, check.policy.allowed ?? []];
      const isUnfit = lists.some((texts) => texts.length > 0 && ofFamilies(texts, pod.families).length === 0);
      return [isUnfit ? { ...asking, settled: noFamily(pod.families) } : asking];
    }
    // a family for which the profile has no target is not checked
    const connect = connectOf(check);
    // the kubelet connects to the pod's primary address
    const families = 'witness' in check ? pod.families.slice(0, 1) : pod.families;
    const fitting = families.filter((family) => !connect || targetsOf(connect, family).length > 0);
    if (fitting.length === 0) return [{ ...asking, settled: noFamily(pod.families) }];
    const isOne = fitting.length > 1 && 'redirect' in check && servesOne(check.redirect);
    const first = isOne ? (firstFamily(addressesOf(devices())) ?? fitting[0]) : undefined;
    if (first === undefined) return fitting.map((family) => ({ ...asking, family }));
    const other = first === 'IPv4' ? 'IPv6' : 'IPv4';
    const note =
      `${other} was not checked: without its dual-stack option the mesh redirects only ${first} in this pod, and ` +
      `leaves ${other} traffic alone`;
    return [{ ...asking, family: first, note }];
  });
}

/**
 * The steps of a recheck. The readiness probe replaces the witness, and also `roundTrip`: the pod's programs
 * may use up the ICMP messages that the node sends to the pod. `reach` is left out, because it tests another
 * program. Each attempt at `policy` may log a denied packet, so it is repeated only on request.
 */
export const laterForm = (steps: Step[], hasPolicy: boolean): Step[] =>
  steps
    .filter(({ name }) => !['witness', 'roundTrip', 'reach', ...(hasPolicy ? [] : ['policy'])].includes(name))
    .map((step) => ({ ...step, isLater: true }));

const connectOf = (check: Check): string[] | undefined => {
  if ('redirect' in check) return check.redirect.connect;
  return 'captured' in check ? check.captured.connect : undefined;
};

const servesOne = ({ direction, families }: RedirectCheck): boolean =>
  (families ?? (direction === 'inbound' ? 'first' : 'all')) === 'first';

function noFamily(families: Family[]): Failed {
  if (families.length === 0) return failed('address-unknown', 'no address of the pod');
  return failed('no-target', `a pod that has ${families.join(' and ')} only`);
}

/** The family for which istio-cni writes rules (`getLocalIP`): IPv4 if the pod has an IPv4 address. */
function firstFamily(addresses: Address[]): Family | undefined {
  const counted = addresses.filter((address) => !isLoopback(address) && !isLinkLocal(address));
  return counted.some(({ family }) => family === 'IPv4') ? 'IPv4' : counted[0]?.family;
}

/** What a step expects, as the text after "expected" in messages. */
export function expectedOf({ check, family }: Step, pod: Pod): string {
  const toTargets = (connect: string[]): string => {
    const targets = family === undefined ? connect : targetsOf(connect, family).map(formatTarget);
    return `a connection to ${targets.join(' or ')}`;
  };
  if ('redirect' in check) {
    const { connect, listen, direction } = check.redirect;
    return `${toTargets(connect)} to end at port ${listen} by the ${direction} rule`;
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
  if ('policy' in check) {
    const { allowed = [], blocked } = check.policy;
    const yes = allowed.length === 0 ? '' : `connections to ${allowed.join(', ')}, and `;
    return `for a second, ${yes}no connection to ${blocked.join(', ')}`;
  }
  if ('reach' in check) return `a connection to ${check.reach.host} port ${check.reach.port} to succeed`;
  return check satisfies never;
}

function interfacesOf({ networks, namespace }: Pod): string {
  const asked = readNetworks(networks, namespace) ?? [];
  const names = asked.map((network) => [network.name, network.interface].filter(Boolean).join('@'));
  return `an interface for each network that the pod requests (${names.join(', ') || 'none'})`;
}
