import { type Finding, failed, passed } from '../finding.ts';
import { findNeighbour } from '../proc/neighbours.ts';
import { readTable } from '../read-text.ts';
import { now, sleep } from '../waiting.ts';
import { datagramsTo } from './datagram.ts';
import { knownBefore, noGateway } from './no-gateway.ts';

/** One round: the kernel asks again each second (`neigh/default/retrans_time_ms`). */
const round = 1000;

/** How long a gateway that is already known has to refuse a datagram, in milliseconds. */
const patience = 100;

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
  const datagrams = datagramsTo(gateway, 'IPv4', 1);
  const last = Math.min(end, now() + round);
  let listed = false;
  try {
    for (let wait = 1; ; wait = Math.min(wait * 2, 100)) {
      await sleep(wait);
      const neighbour = seen();
      if (neighbour?.permanent) return noGateway(`a permanent entry for the gateway ${gateway}`);
      if (datagrams.refused) return passed(`the gateway ${gateway} refuse a datagram, so it exists`);
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
