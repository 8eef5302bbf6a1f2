import { type Address, addressOf } from '../addresses.ts';
import { type ByteOrder, bytesOfWords, rowsOf } from './words.ts';

/** A row of `/proc/net/tcp` or `tcp6`, which show the network namespace of the process that reads them. */
export interface TcpSocket {
  local: Address;
  localPort: number;
  remote: Address;
  remotePort: number;
  /** `include/net/tcp_states.h`; {@link listening} is the one that matters here. */
  state: number;
}

export const listening = 0x0a;

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
