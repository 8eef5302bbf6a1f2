import { platform, type SocketError } from '../platform.ts';
import type { Family } from '../shared/addresses.ts';

/** The discard service (RFC 863): it ignores datagrams. */
const port = 9;

/** Datagrams to the gateway. They need no right, and no mesh redirects them. */
export interface Datagrams {
  /** Sends one. Connects first if that failed before, as it does during duplicate address detection. */
  send(): void;
  /** How many datagrams the kernel accepted. */
  readonly sends: number;
  /** The socket's own port; 0 before the first was sent. */
  readonly localPort: number;
  /** Whether the gateway answered that nothing listens there. The kernel reports that to a connected socket only. */
  readonly refused: boolean;
  /** The error of the last send, if it failed. */
  readonly error: string | undefined;
  close(): void;
}

/** Sends the first datagram as soon as the socket exists. */
export function datagramsTo(host: string, family: Family, bytes: number): Datagrams {
  const socket = platform.datagramSocket(family);
  const payload = new Uint8Array(bytes);
  let state: 'open' | 'connecting' | 'connected' = 'open';
  let refused = false;
  let failure: string | undefined;
  let sends = 0;
  const note = (error: SocketError | null): void => {
    if (!error) sends += 1;
    if (error?.code === 'ECONNREFUSED') refused = true;
    else failure = error ? (error.code ?? error.message) : undefined;
  };
  const send = (): void => {
    if (state === 'connected') socket.send(payload, note);
    if (state !== 'open') return;
    state = 'connecting';
    socket.connect(port, host);
  };
  socket.on('error', (error) => {
    if (state === 'connecting') state = 'open';
    note(error);
  });
  socket.on('connect', () => {
    // no address of the pod is usable yet, so the kernel uses that of `lo` and sends no solicitation (`ndisc_send_ns`)
    if (socket.address().address === '::1') {
      socket.disconnect();
      state = 'open';
      failure = 'EADDRNOTAVAIL';
      return;
    }
    state = 'connected';
    send();
  });
  send();
  return {
    send,
    get sends() {
      return sends;
    },
    get localPort() {
      return state === 'connected' ? socket.address().port : 0;
    },
    get refused() {
      return refused;
    },
    get error() {
      return failure;
    },
    close: () => socket.close(),
  };
}
