import { readDevices } from '../devices.ts';
import { type Finding, failed, passed } from '../finding.ts';
import { Datagrams } from '../host/datagrams.ts';
import type { Pod } from '../pod.ts';
import { defaultRoute } from '../proc/routes.ts';
import { type Family, formatAddress, hostOf } from '../shared/addresses.ts';
import type { GatewayCheck } from '../shared/contract.ts';
import { type Attempt, now, sleep } from '../waiting.ts';
import { judgeAddresses } from './address.ts';

/**
 * How long the routes of a late address may be missing, in milliseconds: plugins write them directly after the address.
 */
const settling = 1000;

/** Time for one attempt, and the least time, in milliseconds. The kernel asks for a neighbour each second. */
const round = { usual: 1000, least: 300 };

/** A datagram to a known neighbour leaves within microseconds; one to an unknown neighbour waits for seconds. */
const prompt = 200;

/**
 * How many datagrams must leave in a row. When the kernel gives up on a neighbour, it drops the queued datagrams, which
 * looks like leaving, but the next datagram waits again.
 */
const enough = 3;

/**
 * Checks that the default gateway's link-layer address is known, so that the pod is attached to something. It is
 * independent of policies, and shows nothing of what is behind the link: {@link attemptRoundTrip} does.
 *
 * An absent gateway counts as passed only in a pod that has its address, because an interface may be late or never
 * come, and only if the profile does not require a default route.
 */
export function attemptGateway({ required }: GatewayCheck, family: Family, pod: Pod): Attempt {
  const wanted = pod.addresses.filter((address) => address.family === family);
  let missing: { at: number; finding: Finding } | undefined;
  const withoutGateway = (reported: Finding): Finding => {
    // without an address, the family is that of an interface which existed at the start
    const finding = wanted.length === 0 ? passed('it') : judgeAddresses(wanted, readDevices());
    if (!finding.passed) missing = { at: now(), finding };
    return missing !== undefined && now() - missing.at < settling ? missing.finding : reported;
  };
  return async (deadline) => {
    const route = defaultRoute(family);
    if (typeof route === 'string')
      return required || route !== 'no default route'
        ? withoutGateway(failed('no-default-route', route))
        : withoutGateway(noGateway(route));
    const { gateway, device } = route;
    const seen = `a default route by ${device}`;
    if (!gateway) return withoutGateway(noGateway(`${seen} without a gateway`));
    if (gateway.family !== family)
      return withoutGateway(noGateway(`${seen} with an ${gateway.family} gateway`));
    if (readDevices().some((it) => it.name === device && !it.neighbours))
      return withoutGateway(noGateway(`${seen}, which has no neighbours`));
    const time = Math.min(round.usual, Math.max(deadline - now(), round.least));
    return askFor(hostOf(gateway, device), family, time);
  };
}

/** Passes with a note, because no gateway could answer. */
const noGateway = (seen: string): Finding =>
  passed(seen, 'nothing was asked, because there is no gateway at the link layer');

/**
 * Sends datagrams and checks whether they leave. While a neighbour's link-layer address is unknown, they are queued and
 * count for their own socket (`net/core/neighbour.c`), whatever others in the pod send.
 */
async function askFor(host: string, family: Family, time: number): Promise<Finding> {
  const datagrams = new Datagrams(family);
  const end = now() + time;
  try {
    for (let left = 0; ; ) {
      const at = now();
      const error = datagrams.send(host, new Uint8Array(1));
      for (let wait = 1; datagrams.isWaiting && now() < end; wait = Math.min(wait * 2, 50)) await sleep(wait);
      if (error === undefined && !datagrams.isWaiting) left = now() - at < prompt ? left + 1 : 0;
      if (datagrams.errors().some(({ from }) => from && formatAddress(from) === host.split('%')[0]))
        return passed(`the gateway ${host} refuse a datagram, so it exists`);
      if (left >= enough) return passed(`datagrams leave for the gateway ${host}`);
      if (now() >= end) {
        if (error !== undefined) return failed('send-refused', `${error} on sending to ${host}`);
        return failed('gateway-silent', `no answer from ${host} at the link layer`);
      }
      // an error lasts for a while: addresses are tentative for a second
      if (error !== undefined) await sleep(prompt);
    }
  } finally {
    datagrams.close();
  }
}
