import { rowsOf } from './words.ts';

/**
 * How many neighbours answered by IPv6 in this network namespace (RFC 4861, neighbour advertisements), by
 * `/proc/net/snmp6`, or undefined where it does not say.
 */
export function neighbourAnswers(text: string): number | undefined {
  const row = rowsOf(text).find(([name]) => name === 'Icmp6InNeighborAdvertisements');
  return row && Number(row[1]);
}
