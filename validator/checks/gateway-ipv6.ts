import { type Finding, failed, held } from '../finding.ts';
import { parseDevices } from '../proc/dev.ts';
import { neighbourAnswers } from '../proc/snmp6.ts';
import { readText } from '../read-text.ts';
import { now, sleep } from '../waiting.ts';
import { datagramsTo } from './datagram.ts';

/** The kernel gives up after three questions, one a second (`neigh/default/mcast_solicit`, `retrans_time_ms`). */
const round = 4000;
const again = 500;

/** More than all else that a pod sends in its first moments, by IPv4 too, and less than any MTU of IPv6. */
export const datagramBytes = 1000;

/**
 * Sends a datagram and looks for signs that the gateway's link-layer address is known. There is no table of IPv6
 * neighbours in /proc, and a UDP socket is never told that nobody is there (`net/ipv6/icmp.c`, `tab_unreach`:
 * "address unreachable" is not fatal). But a datagram leaves only once its neighbour is known.
 */
export async function askByIPv6(gateway: string, device: string, end: number): Promise<Finding> {
  const before = readCounters(device);
  let { sentBytes } = before;
  const started = now();
  const datagrams = datagramsTo(gateway, 'udp6', datagramBytes);
  try {
    let sent = started;
    for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
      await sleep(wait);
      const over = now() - started >= round || now() >= end;
      const { refused, error } = datagrams;
      const after = readCounters(device);
      // since the last look only: in a long time other traffic would add up to a datagram
      const signs = { gateway, before: { ...before, sentBytes }, after, refused, error, over };
      const finding = judgeGateway(signs);
      if (finding) return finding;
      sentBytes = after.sentBytes;
      if (now() - sent >= again) {
        sent = now();
        datagrams.send();
      }
    }
  } finally {
    datagrams.close();
  }
}

export interface Counters {
  /** Answers of neighbours; undefined where the kernel does not tell. */
  answers: number | undefined;
  /** Bytes that left by the device of the default route. */
  sentBytes: number;
}

export interface Signs {
  gateway: string;
  before: Counters;
  after: Counters;
  /** The gateway answered that nobody listens there. */
  refused: boolean;
  /** Why the last datagram was not sent, if it was not. */
  error: string | undefined;
  over: boolean;
}

/** What the signs say so far, or undefined while they say nothing. */
export function judgeGateway({ gateway, before, after, refused, error, over }: Signs): Finding | undefined {
  if (refused) return held(`the gateway ${gateway} refuse a datagram, so it is there`);
  const tells = before.answers !== undefined && after.answers !== undefined;
  if (tells && Number(after.answers) > Number(before.answers))
    return held(`a neighbour advertisement come back on asking for ${gateway}`);
  if (after.sentBytes - before.sentBytes >= datagramBytes)
    return held(`a datagram leave for the link-layer address of ${gateway}, which is known`);
  if (!over) return undefined;
  if (error !== undefined) return failed('send-refused', `${error} on sending to ${gateway}`);
  if (!tells)
    return held(`nothing of ${gateway}`, 'it is there and filtered, or not there: this kernel does not tell');
  return failed('gateway-silent', `no neighbour advertisement from ${gateway}`);
}

function readCounters(device: string): Counters {
  const row = parseDevices(readText('/proc/net/dev')).find(({ name }) => name === device);
  return { answers: neighbourAnswers(readText('/proc/net/snmp6')), sentBytes: row?.sentBytes ?? 0 };
}
