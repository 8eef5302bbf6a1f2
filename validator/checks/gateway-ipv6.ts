import { type Finding, failed, passed } from '../finding.ts';
import { neighbourAnswers } from '../proc/neighbours.ts';
import { queuedBytes } from '../proc/sockets.ts';
import { readIPv6Table } from '../read-text.ts';
import { now, sleep } from '../waiting.ts';
import { datagramsTo } from './datagram.ts';
import { knownBefore } from './no-gateway.ts';

/** The kernel gives up after three questions, one a second (`neigh/default/mcast_solicit`, `retrans_time_ms`). */
const round = 4000;

/** A datagram to a known neighbour leaves within microseconds; one to an unknown neighbour waits for seconds. */
const prompt = 200;

/**
 * How many datagrams must leave in a row. When the kernel gives up on a neighbour, it drops the queued datagrams, which
 * looks like leaving, but the next datagram waits again.
 */
export const enough = 3;

/**
 * Sends datagrams and checks whether they leave. /proc has no table of IPv6 neighbours, and the kernel does not report
 * an absent neighbour to a UDP socket (`net/ipv6/icmp.c`, `tab_unreach`: "address unreachable" is not fatal). But while
 * a neighbour's link-layer address is unknown, datagrams to it are queued and count for their own socket
 * (`net/core/neighbour.c`), whatever others in the pod send.
 */
export async function askByIPv6(gateway: string, device: string, end: number): Promise<Finding> {
  const before = neighbourAnswers(readIPv6Table('/proc/net/snmp6')) ?? 0;
  const started = now();
  const datagrams = datagramsTo(gateway, 'IPv6', 1);
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
        reportsErrors: queued !== undefined,
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

/** What a run of the check has seen so far. */
export interface Signs {
  gateway: string;
  device: string;
  /** Datagrams that left promptly, one after another. */
  left: number;
  /** A neighbour answered after the first datagram was sent. */
  answered: boolean;
  /** The kernel shows what a socket has queued. */
  reportsErrors: boolean;
  /** The gateway answered that nothing listens there. */
  refused: boolean;
  /** The error of the last send, if it failed. */
  error: string | undefined;
  over: boolean;
}

/** Returns the finding that the signs allow so far, or undefined if they allow none. */
export function judgeGateway(signs: Signs): Finding | undefined {
  const { gateway, device, left, answered, reportsErrors, refused, error, over } = signs;
  if (refused) return passed(`the gateway ${gateway} refuse a datagram, so it exists`);
  if (left >= enough) {
    return answered
      ? passed(`a neighbour advertisement come back on asking for ${gateway}`)
      : passed(`datagrams leave for ${gateway}`, knownBefore(gateway, device));
  }
  if (!over) return undefined;
  if (error !== undefined) return failed('send-refused', `${error} on sending to ${gateway}`);
  if (!reportsErrors)
    return passed(`nothing of ${gateway}`, 'it is filtered or absent: this kernel does not show which');
  return failed('gateway-silent', `no neighbour advertisement from ${gateway}`);
}
