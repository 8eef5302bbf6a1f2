import { rowsOf } from './words.ts';

/**
 * How many bytes the UDP socket with this local port has sent and not got rid of, or undefined where the table has no
 * such socket. The columns are those of `/proc/net/tcp`: https://docs.kernel.org/networking/proc_net_tcp.html
 *
 * @param text `/proc/net/udp` or `udp6`
 */
export function queuedBytes(text: string, port: number): number | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const row = rowsOf(text).find(([, local = '']) => local.endsWith(`:${hex}`));
  const queues = /^([0-9A-F]{8}):[0-9A-F]{8}$/i.exec(row?.[4] ?? '');
  return queues?.[1] === undefined ? undefined : Number.parseInt(queues[1], 16);
}
