import { type Finding, failed, held } from '../finding.ts';
import { findNeighbour } from '../proc/arp.ts';
import { readTable } from '../read-text.ts';
import { now, sleep } from '../waiting.ts';
import { datagramsTo } from './datagram.ts';
import { noGateway } from './no-gateway.ts';

/** One round: the kernel asks again each second (`neigh/default/retrans_time_ms`). */
const round = 1000;

/**
 * Sends a datagram, for which the kernel has to ask who has the gateway's address, and reads the answer off its ARP
 * table. That a row is complete from an earlier run in the same sandbox is right as well: it was answered there.
 */
export async function askByIPv4(gateway: string, device: string, end: number): Promise<Finding> {
  const seen = (): ReturnType<typeof findNeighbour> =>
    findNeighbour(readTable('/proc/net/arp'), gateway, device);
  if (seen()?.permanent) return noGateway(`a permanent entry for the gateway ${gateway}`);
  const datagrams = datagramsTo(gateway, 'udp4', 1);
  const last = Math.min(end, now() + round);
  let listed = false;
  try {
    for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
      await sleep(wait);
      const neighbour = seen();
      if (neighbour?.permanent) return noGateway(`a permanent entry for the gateway ${gateway}`);
      if (neighbour?.complete) return held(`an ARP answer from ${gateway} on ${device}`);
      listed ||= neighbour !== undefined;
      if (now() >= last) break;
    }
  } finally {
    datagrams.close();
  }
  if (listed) return failed('gateway-silent', `no ARP answer from ${gateway} on ${device}`);
  if (datagrams.error !== undefined)
    return failed('send-refused', `${datagrams.error} on sending to ${gateway}`);
  // the kernel notes whom it asks before anyone answers: it did not ask on this device
  return noGateway(`no ARP on ${device}`);
}
