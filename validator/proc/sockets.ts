import { type Address, addressOf } from '../shared/addresses.ts';
import { type ByteOrder, bytesOfWords, rowsOf } from './words.ts';

/** A row of `/proc/net/tcp` or `tcp6`, which show the network namespace of the process that reads them. */
export interface TcpSocket {
  local: Address;
  localPort: number;
  remote: Address;
  remotePort: number;
  /** One of {@link tcpState}, or another. */
  state: number;
}

/** Those of `include/net/tcp_states.h` that matter here. */
export const tcpState = {
  established: 0x01,
  synReceived: 0x03,
  finWait1: 0x04,
  finWait2: 0x05,
  timeWait: 0x06,
  closeWait: 0x08,
  listen: 0x0a,
} as const;

/** The rows of `/proc/net/tcp` or `tcp6`: https://docs.kernel.org/networking/proc_net_tcp.html */
export function parseTcp(text: string, order: ByteOrder): TcpSocket[] {
  return rowsOf(text).flatMap(([, local = '', remote = '', state = '']) => {
    const from = endpoint(local, order);
    const to = endpoint(remote, order);
    if (!from || !to || !/^[0-9A-F]{2}$/i.test(state)) return [];
    return [
      {
        local: from.address,
        localPort: from.port,
        remote: to.address,
        remotePort: to.port,
        state: Number.parseInt(state, 16),
      },
    ];
  });
}

function endpoint(text: string, order: ByteOrder): { address: Address; port: number } | undefined {
  const match = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/i.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { address: addressOf(bytesOfWords(match[1], order)), port: Number.parseInt(match[2], 16) };
}

/**
 * Returns how many bytes the UDP socket with this local port has queued, or undefined if the table has no such socket.
 * The columns are those of `/proc/net/tcp`: https://docs.kernel.org/networking/proc_net_tcp.html
 *
 * @param text `/proc/net/udp` or `udp6`
 */
export function queuedBytes(text: string, port: number): number | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const row = rowsOf(text).find(([, local = '']) => local.endsWith(`:${hex}`));
  const queues = /^([0-9A-F]{8}):[0-9A-F]{8}$/i.exec(row?.[4] ?? '');
  return queues?.[1] === undefined ? undefined : Number.parseInt(queues[1], 16);
}
