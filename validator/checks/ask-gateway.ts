import { type Finding, failed, passed } from '../finding.ts';
import { Datagrams } from '../host/datagrams.ts';
import { findNeighbour, neighbourAnswers } from '../proc/neighbours.ts';
import { queuedBytes } from '../proc/sockets.ts';
import { readIPv6Table, readTable } from '../proc/tables.ts';
import { now, sleep } from '../waiting.ts';

/** One round by IPv4: the kernel asks again each second (`neigh/default/retrans_time_ms`). */
const round = 1000;

/** One round by IPv6: the kernel gives up after three questions (`neigh/default/mcast_solicit`). */
const ipv6Round = 4000;

/** How long a gateway that is already known has to refuse a datagram, in milliseconds. */
const patience = 100;

/** A datagram to a known neighbour leaves within microseconds; one to an unknown neighbour waits for seconds. */
const prompt = 200;

/**
 * How many datagrams must leave in a row. When the kernel gives up on a neighbour, it drops the queued datagrams, which
 * looks like leaving, but the next datagram waits again.
 */
const enough = 3;

/** Passes with a note, because no gateway could answer. */
export function noGateway(seen: string): Finding {
  return passed(seen, 'nothing was asked, because there is no gateway at the link layer');
}

/** The note for a gateway whose link-layer address was known before: it may have disappeared since. */
const knownBefore = (gateway: string, device: string): string =>
  `${gateway} was known on ${device} before this run, so no answer was needed`;

const refusal = (gateway: string): Finding =>
  passed(`the gateway ${gateway} refuse a datagram, so it exists`);

/**
 * Sends a datagram, so that the kernel resolves the gateway's address, and reads the answer from the ARP table. A row
 * that was complete before shows only an earlier answer in this sandbox.
 */
export async function askByIPv4(gateway: string, device: string, end: number): Promise<Finding> {
  const seen = (): ReturnType<typeof findNeighbour> =>
    findNeighbour(readTable('/proc/net/arp'), gateway, device);
  const before = seen();
  if (before?.permanent) return noGateway(`a permanent entry for the gateway ${gateway}`);
  const started = now();
  const datagrams = new Datagrams(gateway, 'IPv4');
  const last = Math.min(end, now() + round);
  let listed = false;
  try {
    for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
      await sleep(wait);
      const neighbour = seen();
      if (neighbour?.permanent) return noGateway(`a permanent entry for the gateway ${gateway}`);
      if (datagrams.refused) return refusal(gateway);
      if (neighbour?.complete && !before?.complete)
        return passed(`an ARP answer from ${gateway} on ${device}`);
      if (neighbour?.complete && now() - started >= patience)
        return passed(`an entry for ${gateway} in the ARP table`, knownBefore(gateway, device));
      listed ||= neighbour !== undefined;
      if (now() >= last) break;
    }
  } finally {
    datagrams.close();
  }
  if (listed) return failed('gateway-silent', `no ARP answer from ${gateway} on ${device}`);
  if (datagrams.error !== undefined)
    return failed('send-refused', `${datagrams.error} on sending to ${gateway}`);
  // the kernel adds a row before anyone answers: without one, it did not ask on this device
  return noGateway(`no ARP on ${device}`);
}

/**
 * Sends datagrams and checks whether they leave. /proc has no table of IPv6 neighbours, and the kernel does not report
 * an absent neighbour to a UDP socket (`net/ipv6/icmp.c`, `tab_unreach`: "address unreachable" is not fatal). But while
 * a neighbour's link-layer address is unknown, datagrams to it are queued and count for their own socket
 * (`net/core/neighbour.c`), whatever others in the pod send.
 */
export async function askByIPv6(gateway: string, device: string, end: number): Promise<Finding> {
  const answers = (): number => neighbourAnswers(readIPv6Table('/proc/net/snmp6')) ?? 0;
  const before = answers();
  const started = now();
  const datagrams = new Datagrams(gateway, 'IPv6');
  try {
    let left = 0;
    let asked = { count: 1, at: started };
    for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
      await sleep(wait);
      const over = now() - started >= ipv6Round || now() >= end;
      const { refused, error, sends, localPort } = datagrams;
      const queued = queuedBytes(readIPv6Table('/proc/net/udp6'), localPort);
      const gone = queued === 0 && sends >= asked.count;
      if (gone) left = now() - asked.at < prompt ? left + 1 : 0;
      if (refused) return refusal(gateway);
      if (left >= enough) {
        return answers() > before
          ? passed(`a neighbour advertisement come back on asking for ${gateway}`)
          : passed(`datagrams leave for ${gateway}`, knownBefore(gateway, device));
      }
      if (over && error !== undefined) return failed('send-refused', `${error} on sending to ${gateway}`);
      if (over && queued === undefined)
        return passed(`nothing of ${gateway}`, 'it is filtered or absent: this kernel does not show which');
      if (over) return failed('gateway-silent', `no neighbour advertisement from ${gateway}`);
      if (gone || (error !== undefined && now() - asked.at >= prompt)) {
        asked = { count: sends + 1, at: now() };
        wait = 1;
        datagrams.send();
      }
    }
  } finally {
    datagrams.close();
  }
}
