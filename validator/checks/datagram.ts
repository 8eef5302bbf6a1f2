import type { Socket } from 'node:dgram';
import { dgram } from '../builtins.ts';

/** The discard service (RFC 863): whoever gets a datagram there has nothing to do with it. */
const port = 9;

/** Datagrams to the gateway. No right is needed for them, and no mesh redirects them. */
export interface Datagrams {
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
  let connected = false;
  let refused = false;
  let failure: string | undefined;
  let sends = 0;
  const note = (error: NodeJS.ErrnoException | null): void => {
    if (!error) sends += 1;
    if (error?.code === 'ECONNREFUSED') refused = true;
    else failure = error ? (error.code ?? error.message) : undefined;
  };
  const send = (): void => {
    if (connected) socket.send(payload, note);
  };
  socket.on('error', note);
  socket.on('connect', () => {
    connected = true;
    send();
  });
  socket.connect(port, host);
  return {
    send,
    get sends() {
      return sends;
    },
    get localPort() {
      return connected ? socket.address().port : 0;
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
