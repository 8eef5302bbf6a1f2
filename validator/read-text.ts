import { fs } from './builtins.ts';
import { parseIPv6Routes, parseRoutes, type Route } from './proc/routes.ts';
import { byteOrder } from './proc/words.ts';
import type { Family } from './shared/addresses.ts';

/** The text of a file, or an empty one: what /proc and /sys do not show is treated as not there. */
export function readText(path: string): string {
  try {
    return fs().readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * The text of a table of the kernel that a pod's network namespace always has. A check must not take one that it
 * could not read for an empty one: no route and no neighbour both mean that there is nothing to prove.
 */
export function readTable(path: string): string {
  try {
    return fs().readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The same for a table of IPv6, which a kernel without IPv6 does not have: then it is empty. */
export function readIPv6Table(path: string): string {
  return fs().existsSync(path) ? readTable(path) : '';
}

/** Where a symbolic link leads, or an empty text. */
export function readLink(path: string): string {
  try {
    return fs().readlinkSync(path);
  } catch {
    return '';
  }
}

/** The routes of one family in this network namespace. */
export function readRoutes(family: Family): Route[] {
  if (family === 'IPv6') return parseIPv6Routes(readTable('/proc/net/ipv6_route'));
  return parseRoutes(readTable('/proc/net/route'), byteOrder());
}
