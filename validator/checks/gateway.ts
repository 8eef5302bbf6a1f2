import { type Finding, failed, passed } from '../finding.ts';
import { Datagrams } from '../host/datagrams.ts';
import { now, sleep } from '../host/loop.ts';
import { addressesOf, type Device, isOwn, type Pod, readDevices } from '../pod.ts';
import type { Reason } from '../reasons.ts';
import { type Address, type Family, formatAddress, hostOf } from '../shared/addresses.ts';
import type { GatewayCheck } from '../shared/contract.ts';
import type { Attempt } from '../simultaneous.ts';
import { defaultRoute } from './default-route.ts';

/**
 * Checks that the addresses in the pod's status are on its interfaces. An address is missing if a plugin returned it
 * but created no interface, as Multus does for a pod that the API server does not know.
 */
export function attemptAddress(family: Family, pod: Pod): Attempt {
  const wanted = pod.addresses.filter((address) => address.family === family);
  return async () => judgeAddresses(wanted, readDevices());
}

export function judgeAddresses(wanted: Address[], devices: Device[]): Finding {
  if (wanted.length === 0)
    return { ...failed('address-unknown', 'no address reported for the pod'), final: true };
  const there = addressesOf(devices);
  const missing = wanted.filter(({ hex }) => !there.some((address) => address.hex === hex));
  if (missing.length === 0) return passed('it there');
  const list = (addresses: Address[]): string => addresses.map(formatAddress).join(', ') || 'no address';
  const down = devices.find(
    ({ up, addresses }) => !up && addresses.some(({ hex }) => hex === missing[0]?.hex),
  );
  return failed(
    'address-missing',
    down
      ? `${list(missing)} on ${down.name}, which is down or has no carrier`
      : `no ${list(missing)}: the interfaces have ${list(there)}`,
  );
}

/** An attempt's usual and shortest milliseconds. The kernel asks for a neighbour's address every second. */
const round = { usual: 1000, least: 300 };

/** A datagram to a known neighbour leaves within this many milliseconds; one to an unknown neighbour waits. */
const prompt = 200;

/** How many consecutive datagrams must leave. Datagrams that the kernel discards from its queue seem to leave too. */
const enough = 3;

/**
 * Checks that the link-layer address of the default gateway is known, which shows that the pod is attached to a
 * network. Network policies do not affect this. A pod without a gateway passes only if its interfaces have the pod's
 * addresses, because an interface may appear late. A pod without a default route fails if the profile requires one.
 */
export function attemptGateway({ required }: GatewayCheck, family: Family, pod: Pod): Attempt {
  const wanted = pod.addresses.filter((address) => address.family === family);
  const withoutGateway = (reported: Finding): Finding => {
    // without addresses in the environment, nothing is compared: the family comes from the interfaces
    const finding = wanted.length === 0 ? passed('it') : judgeAddresses(wanted, readDevices());
    return finding.passed ? reported : finding;
  };
  return async (deadline) => {
    const route = defaultRoute(family);
    if (route === undefined) {
      const seen = 'no default route';
      return withoutGateway(required ? failed('no-default-route', seen) : noGateway(seen));
    }
    if ('reason' in route) return withoutGateway(route);
    const { gateway, device } = route;
    const hasNeighbours = readDevices().every((it) => it.name !== device || it.neighbours);
    if (gateway?.family !== family || !hasNeighbours)
      return withoutGateway(noGateway(`a default route by ${device} without a gateway at the link layer`));
    const time = Math.min(round.usual, Math.max(deadline - now(), round.least));
    return askFor(hostOf(gateway, device), family, pod, time);
  };
}

const noGateway = (seen: string): Finding =>
  passed(seen, 'nothing was asked, because there is no such gateway');

/**
 * Sends datagrams to the gateway. While the gateway's link-layer address is unknown, the kernel queues the datagrams
 * for the socket (`net/core/neighbour.c`).
 */
async function askFor(host: string, family: Family, pod: Pod, time: number): Promise<Finding> {
  const datagrams = new Datagrams(family, sourceOf(family, pod));
  const end = now() + time;
  try {
    for (let left = 0; ; ) {
      const at = now();
      const error = datagrams.send(host, new Uint8Array(1));
      for (let wait = 1; datagrams.isWaiting && now() < end; wait = Math.min(wait * 2, 50)) await sleep(wait);
      if (error === undefined && !datagrams.isWaiting) left = now() - at < prompt ? left + 1 : 0;
      if (datagrams.errors().some(({ from }) => from && formatAddress(from) === host.split('%')[0]))
        return passed(`the gateway ${host} refuses a datagram, so it exists`);
      if (left >= enough) return passed(`datagrams leave for the gateway ${host}`);
      if (now() >= end) {
        if (error !== undefined) return failed(reasonFor(error), `${error} on sending to ${host}`);
        return failed('gateway-silent', `no answer from ${host} at the link layer`);
      }
      // pauses, because the error lasts: an address is tentative for about a second
      if (error !== undefined) await sleep(prompt);
    }
  } finally {
    datagrams.close();
  }
}

const reasonFor = (code: string): Reason => (code === 'EADDRNOTAVAIL' ? 'address-unusable' : 'send-refused');

/** The pod's address, if one of the interfaces has it: the kernel sends from no other address. */
function sourceOf(family: Family, { addresses }: Pod): Address | undefined {
  return addresses.find((it) => it.family === family && isOwn(it));
}
