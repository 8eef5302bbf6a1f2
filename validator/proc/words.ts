/**
 * Addresses in `/proc/net/tcp`, `tcp6` and `route` are printed as 32-bit words in the machine's own byte order
 * (`net/ipv4/tcp_ipv4.c`, `fib_trie.c`); `/proc/net/ipv6_route` prints bytes in order.
 */
export type ByteOrder = 'LE' | 'BE';

/** The byte order of this machine. */
export function byteOrder(): ByteOrder {
  return new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 'LE' : 'BE';
}

/** The bytes, in order, of such words. */
export function bytesOfWords(words: string, order: ByteOrder): string {
  if (order === 'BE') return words.toLowerCase();
  return (words.match(/.{8}/g) ?? [])
    .map((word) => (word.match(/../g) ?? []).reverse().join(''))
    .join('')
    .toLowerCase();
}

/** The lines of a table in /proc, split at white space. */
export function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/));
}
