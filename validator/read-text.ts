import { platform } from './platform.ts';
import { parseIPv6Routes, parseRoutes, type Route } from './proc/routes.ts';
import { byteOrder } from './proc/words.ts';
import type { Family } from './shared/addresses.ts';

/** Returns the text of a file, or an empty text if /proc or /sys does not have it. */
export function readText(path: string): string {
  try {
    return platform.readFile(path);
  } catch {
    return '';
  }
}

/**
 * Returns the text of a kernel table that every network namespace has. Throws if it cannot be read, because an empty
 * table means that there is nothing to prove.
 */
export function readTable(path: string): string {
  try {
    return platform.readFile(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The same for a table of IPv6, which is empty if the kernel has no IPv6. */
export function readIPv6Table(path: string): string {
  return platform.exists(path) ? readTable(path) : '';
}

/** Returns the target of a symbolic link, or an empty text. */
export function readLink(path: string): string {
  try {
    return platform.readLink(path);
  } catch {
    return '';
  }
}

/** The routes of one family in this network namespace. */
export function readRoutes(family: Family): Route[] {
  if (family === 'IPv6') return parseIPv6Routes(readTable('/proc/net/ipv6_route'));
  return parseRoutes(readTable('/proc/net/route'), byteOrder());
}
