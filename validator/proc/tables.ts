import { codeOf, native } from '../host/native.ts';

/** What the kernel shows of the network cannot be read. */
export class NotReadable extends Error {}

/** Returns the text of a file, or an empty text if /proc or the volume does not have it. */
export function readText(path: string): string {
  try {
    return native.readFile(path);
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
    return native.readFile(path);
  } catch (error) {
    throw new NotReadable(`${path} cannot be read: ${codeOf(error)}`);
  }
}

/** The same for a table of IPv6, which is empty if the kernel has no IPv6. */
export function readIPv6Table(path: string): string {
  return native.exists(path) ? readTable(path) : '';
}

/** The lines of a table in /proc, split at white space. */
export function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/));
}

/**
 * The bytes, in order, of an address in `/proc/net/tcp`, `tcp6` or `route`, which print it as 32-bit words in the
 * machine's byte order (`net/ipv4/tcp_ipv4.c`, `fib_trie.c`). That is little-endian on amd64 and arm64.
 */
export function bytesOfWords(words: string): string {
  return (words.match(/.{8}/g) ?? [])
    .map((word) => (word.match(/../g) ?? []).reverse().join(''))
    .join('')
    .toLowerCase();
}
