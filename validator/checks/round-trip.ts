import { type Failed, failed, type Passed, passed } from '../finding.ts';
import { Datagrams, type IcmpError } from '../host/datagrams.ts';
import { now, sleep } from '../host/loop.ts';
import { native } from '../host/native.ts';
import { isOwn, ownAddresses, type Pod } from '../pod.ts';
import { type Address, type Family, formatAddress, hostOf, parseSocketAddress } from '../shared/addresses.ts';
import type { RoundTripCheck } from '../shared/contract.ts';
import type { Attempt } from '../simultaneous.ts';
import { defaultRoute, isSame, routeTo } from './default-route.ts';

/**
 * How long an attempt waits for an answer, in milliseconds. The time doubles with each attempt: a node limits its ICMP
 * messages (`net.ipv4.icmp_msgs_per_sec`, `icmp_ratelimit`), and pods that started together must not retry together.
 */
const patience = { first: 100, longest: 1000 };

/** How long an attempt waits for duplicate address detection (RFC 4862, 5.4.2: 1 to 2 s), in milliseconds. */
const detection = 3000;

/** The pause between the datagrams of an attempt, in milliseconds. An answer during the pause ends the attempt. */
const pause = 5;

interface Destination {
  host: string;
  /** Whether the hop limit is 1, so that the first router answers. The first router is the node. */
  isOutside: boolean;
  /** The payload. An answer quotes it, which shows that the answer does not belong to an earlier attempt. */
  token: Uint8Array;
}

const waits: Record<Family, number> = { IPv4: patience.first, IPv6: patience.first };

/** Attempts in progress. All profiles share one per family, so that attempts do not compete for answers. */
const running = new Map<Family, Promise<Passed | Failed>>();

/**
 * Checks that a packet reaches the node and that the node's answer arrives: the node refuses a datagram to a closed
 * port, or answers a datagram with hop limit 1. ARP would not show this: Linux answers ARP requests for its addresses
 * on every interface, and Cilium's program answers for any address. With `prefer`, a missing answer passes with a note.
 */
export function attemptRoundTrip({ mode }: RoundTripCheck, family: Family, pod: Pod): Attempt {
  return async (deadline) => {
    const asking =
      running.get(family) ?? askWhenUsable(family, pod, deadline).finally(() => running.delete(family));
    running.set(family, asking);
    const finding = await asking;
    const isSilence = !finding.passed && finding.reason !== 'address-unusable';
    return isSilence && mode === 'prefer' ? withoutAnswer(finding) : finding;
  };
}
/** Repeats the attempt until the kernel lets programs use the pod's address. */
async function askWhenUsable(family: Family, pod: Pod, deadline: number): Promise<Passed | Failed> {
  for (const latest = now() + detection; ; await sleep(100)) {
    const finding = await ask(family, pod, deadline);
    if (finding.passed || finding.reason !== 'address-unusable' || now() >= latest) return finding;
  }
}

async function ask(family: Family, pod: Pod, deadline: number): Promise<Passed | Failed> {
  const destinations = destinationsOf(family, pod);
  // from the pod's own address: an answer to a different address would not show that the pod can be reached
  const source = pod.addresses.find((address) => address.family === family);
  const datagrams = new Datagrams(family, source);
  const time = Math.min(waits[family] * (0.5 + Math.random()), Math.max(deadline - now(), patience.first));
  waits[family] = Math.min(waits[family] * 2, patience.longest);
  try {
    const errors: (string | undefined)[] = [];
    const end = now() + time;
    for (const [index, { host, isOutside, token }] of destinations.entries()) {
      const error = datagrams.send(host, token, isOutside ? 1 : undefined);
      if (error === 'EADDRNOTAVAIL' && isOwn(source))
        return failed('address-unusable', `${error} on sending to ${host}`);
      errors.push(error);
      const isLast = index === destinations.length - 1;
      const until = isLast ? end : now() + pause;
      do {
        await datagrams.answer(Math.max(until - now(), 0));
        const answer = answerIn(datagrams.errors(), destinations, ownAddresses(), pod.nodeAddresses);
        if (answer !== undefined) return answer;
      } while (now() < until);
    }
    return silenceOf(destinations, errors);
  } finally {
    datagrams.close();
  }
}

/** An address that no cluster has, from the ranges for documentation (RFC 5737, RFC 3849). */
const outside: Record<Family, string> = { IPv4: '192.0.2.2', IPv6: '2001:db8::2' };

/** The node's addresses, the gateway, and an address outside the cluster if packets for it take the default route. */
function destinationsOf(family: Family, pod: Pod): Destination[] {
  const route = defaultRoute(family);
  const { gateway = undefined, device = '' } = route && 'device' in route ? route : {};
  const hosts = [
    ...pod.nodeAddresses.filter((address) => address.family === family).map(formatAddress),
    ...(gateway?.family === family ? [hostOf(gateway, device)] : []),
    ...(isSame(route, routeTo(outside[family])) ? [outside[family]] : []),
  ];
  return [...new Set(hosts)].map((host) => ({
    host,
    isOutside: host === outside[family],
    token: native.random(16),
  }));
}

/** ICMP messages, by type and code (RFC 792, RFC 4443), that hosts and routers send, but filters do not. */
const meaning: Record<string, string> = {
  '3/0': 'network unreachable',
  '3/1': 'host unreachable',
  '3/3': 'port unreachable',
  '11/0': 'time exceeded',
};
const meaningIPv6: Record<string, string> = {
  '1/0': 'no route',
  '1/3': 'address unreachable',
  '1/4': 'port unreachable',
  '3/0': 'time exceeded',
};

/**
 * Returns the finding for the first valid answer. An answer must quote our token, and must not come from a filter
 * ("prohibited"), which may be at the pod's own end. "Port unreachable" must come from the host itself. The answer to a
 * datagram to the address outside the cluster must come from a router: not from this address or one of the pod's.
 */
export function answerIn(
  messages: IcmpError[],
  destinations: Destination[],
  own: Address[],
  node: Address[],
): Passed | undefined {
  for (const { type, code, from, quoted } of messages) {
    const asked = destinations.find(({ token }) => token.every((byte, index) => quoted[index] === byte));
    const word = from && (from.family === 'IPv4' ? meaning : meaningIPv6)[`${type}/${code}`];
    if (!asked || !word || own.some(({ hex }) => hex === from.hex)) continue;
    const isRefused = word === 'port unreachable';
    const isItself = parseSocketAddress(asked.host)?.hex === from.hex;
    if (isRefused === asked.isOutside || isItself === asked.isOutside) continue;
    const answer = `the answer "${word}" of`;
    if (node.some(({ hex }) => hex === from.hex))
      return passed(`${answer} the node (${formatAddress(from)})`);
    const note =
      "a router answered, whose address is not one of the node's: the way to the node is not shown";
    return { ...passed(`${answer} a router (${formatAddress(from)})`, note), wayNotShown: true };
  }
  return undefined;
}

function silenceOf(destinations: Destination[], errors: (string | undefined)[]): Failed {
  const asked = destinations.map(({ host }, index) => (errors[index] ? `${host} (${errors[index]})` : host));
  const isRefused = errors.length > 0 && errors.every((code) => code === 'EPERM');
  return failed(isRefused ? 'send-refused' : 'node-silent', `no answer to datagrams to ${asked.join(', ')}`);
}

/** The result in the mode `prefer` if there is no answer. It counts only when the time of the check is over. */
function withoutAnswer({ seen }: Failed): Passed {
  const note = 'the way to the node and back is not shown: it is broken, or a network policy denies it';
  return { ...passed(seen, note), wayNotShown: true, preliminary: true };
}
