import type { Family } from './addresses.ts';
import { parseIPv6Routes, parseRoutes, type Route } from './proc/routes.ts';
import { byteOrder } from './proc/words.ts';
import { readTable } from './read-text.ts';

/** The routes of one family in this network namespace. */
export function readRoutes(family: Family): Route[] {
  if (family === 'IPv6') return parseIPv6Routes(readTable('/proc/net/ipv6_route'));
  return parseRoutes(readTable('/proc/net/route'), byteOrder());
}
