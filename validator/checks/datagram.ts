import type { Socket } from 'node:dgram';
import { dgram } from '../builtins.ts';

/** The discard service (RFC 863): whoever gets a datagram there has nothing to do with it. */
const port = 9;

/** Datagrams to the gateway. No right is needed for them, and no mesh redirects them. */
export interface Datagrams {
  /** Sends one; connects first where that failed before, as it does while the own address is looked at for doubles. */
  send(): void;
  /** How many the kernel took. */
  readonly sends: number;
  /** The socket's own port; 0 before the first was sent. */
  readonly localPort: number;
  /** Whether the gateway answered that nobody listens there. Only a connected socket is told. */
  readonly refused: boolean;
  /** Why the last one was not sent, if it was not. */
  readonly error: string | undefined;
  close(): void;
}

/** Sends a first one as soon as the socket is there. */
export function datagramsTo(host: string, type: 'udp4' | 'udp6', bytes: number): Datagrams {
  const socket: Socket = dgram().createSocket(type);
  const payload = Buffer.alloc(bytes);
  let state: 'open' | 'connecting' | 'connected' = 'open';
  let refused = false;
  let failure: string | undefined;
  let sends = 0;
  const note = (error: NodeJS.ErrnoException | null): void => {
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
    // no own address may be used yet, so the kernel takes that of `lo`, and nobody is asked (`ndisc_send_ns`)
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
