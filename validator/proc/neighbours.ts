import { rowsOf } from './tables.ts';

/** `include/uapi/linux/if_arp.h`: the neighbour's link-layer address is known; it was set by hand. */
const flag = { complete: 0x2, permanent: 0x4 };

/** A row of the ARP table. */
export interface Neighbour {
  complete: boolean;
  permanent: boolean;
}

/**
 * Returns the row of `/proc/net/arp` for an IPv4 neighbour, or undefined if there is none: devices without ARP never
 * get one (`net/ipv4/arp.c`, `arp_seq_start`).
 */
export function findNeighbour(text: string, address: string, device: string): Neighbour | undefined {
  const row = rowsOf(text).find(([ip, , , , , on]) => ip === address && on === device);
  const flags = Number.parseInt(row?.[2] ?? '', 16);
  if (Number.isNaN(flags)) return undefined;
  return { complete: (flags & flag.complete) !== 0, permanent: (flags & flag.permanent) !== 0 };
}

/**
 * Returns how many IPv6 neighbour advertisements (RFC 4861) this network namespace received, from `/proc/net/snmp6`, or
 * undefined if it has no such row.
 */
export function neighbourAnswers(text: string): number | undefined {
  const row = rowsOf(text).find(([name]) => name === 'Icmp6InNeighborAdvertisements');
  return row && Number(row[1]);
}
