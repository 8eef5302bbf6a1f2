import { type Finding, failed, passed } from '../finding.ts';
import { neighbourAnswers } from '../proc/neighbours.ts';
import { queuedBytes } from '../proc/sockets.ts';
import { readIPv6Table } from '../read-text.ts';
import { now, sleep } from '../waiting.ts';
import { datagramsTo } from './datagram.ts';
import { knownBefore } from './no-gateway.ts';

/** The kernel gives up after three questions, one a second (`neigh/default/mcast_solicit`, `retrans_time_ms`). */
const round = 4000;

/** A datagram to a neighbour that is known leaves in microseconds; one to a neighbour that is not waits seconds. */
const prompt = 200;

/**
 * So many have to leave in a row: when the kernel gives a neighbour up it throws away what waited, which looks like
 * leaving, but the next datagram then waits again.
 */
export const enough = 3;

/**
 * Sends datagrams and looks whether they leave. There is no table of IPv6 neighbours in /proc, and a UDP socket is
 * never told that nobody is there (`net/ipv6/icmp.c`, `tab_unreach`: "address unreachable" is not fatal). But while
 * a neighbour's link-layer address is not known, datagrams to it wait, and count as queued by their own socket
 * (`net/core/neighbour.c`): what others in the pod send changes nothing in that.
 */
export async function askByIPv6(gateway: string, device: string, end: number): Promise<Finding> {
  const before = neighbourAnswers(readIPv6Table('/proc/net/snmp6')) ?? 0;
  const started = now();
  const datagrams = datagramsTo(gateway, 'udp6', 1);
  try {
    let left = 0;
    let asked = { count: 1, at: started };
    for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
      await sleep(wait);
      const over = now() - started >= round || now() >= end;
      const { refused, error, sends, localPort } = datagrams;
      const queued = queuedBytes(readIPv6Table('/proc/net/udp6'), localPort);
      const gone = queued === 0 && sends >= asked.count;
      if (gone) left = now() - asked.at < prompt ? left + 1 : 0;
      if (gone || (error !== undefined && now() - asked.at >= prompt)) {
        asked = { count: sends + 1, at: now() };
        wait = 1;
        if (left < enough) datagrams.send();
      }
      const answered = (neighbourAnswers(readIPv6Table('/proc/net/snmp6')) ?? 0) > before;
      const finding = judgeGateway({
        gateway,
        device,
        left,
        answered,
        tells: queued !== undefined,
        refused,
        error,
        over,
      });
      if (finding) return finding;
    }
  } finally {
    datagrams.close();
  }
}

export interface Signs {
  gateway: string;
  device: string;
  /** Datagrams that left promptly, one after another. */
  left: number;
  /** A neighbour answered since the first was sent. */
  answered: boolean;
  /** The kernel tells what a socket has queued. */
  tells: boolean;
  /** The gateway answered that nobody listens there. */
  refused: boolean;
  /** Why the last datagram was not sent, if it was not. */
  error: string | undefined;
  over: boolean;
}

/** What the signs say so far, or undefined while they say nothing. */
export function judgeGateway(signs: Signs): Finding | undefined {
  const { gateway, device, left, answered, tells, refused, error, over } = signs;
  if (refused) return passed(`the gateway ${gateway} refuse a datagram, so it exists`);
  if (left >= enough) {
    return answered
      ? passed(`a neighbour advertisement come back on asking for ${gateway}`)
      : passed(`datagrams leave for ${gateway}`, knownBefore(gateway, device));
  }
  if (!over) return undefined;
  if (error !== undefined) return failed('send-refused', `${error} on sending to ${gateway}`);
  if (!tells)
    return passed(
      `nothing of ${gateway}`,
      'it is there and filtered, or not there: this kernel does not tell',
    );
  return failed('gateway-silent', `no neighbour advertisement from ${gateway}`);
}
