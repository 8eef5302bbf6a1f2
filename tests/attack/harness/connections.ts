import { type Agent, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { type Answer as Exchanged, exchange } from '../../support/exchange.ts';
import type { Endpoint } from './direct-innocents.ts';

/** The address from which attackers call; the API server calls from another one. */
const localAddress = '127.0.0.2';

/** The answer to a hostile call. If there was no answer, the status is 0. */
export type Answer = Pick<Exchanged, 'status' | 'body'>;

/** Sends a complete request. Without an agent, opens a new connection. */
export function send(
  { host, port, ca }: Endpoint,
  path: string,
  body: string | Buffer,
  signal?: AbortSignal,
  agent: Agent | false = false,
): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const to = { host, port, ca, servername: 'localhost', path, method: 'POST', localAddress };
  return exchange(request({ ...to, headers, agent, signal }), body).catch((error: unknown) => ({
    status: 0,
    body: String(error),
  }));
}

/** Runs `one` repeatedly until the signal is aborted, with `atOnce` attackers at the same time. */
export async function hammer(
  atOnce: number,
  signal: AbortSignal,
  one: (attacker: number, round: number) => Promise<unknown>,
): Promise<void> {
  const attacker = async (index: number): Promise<void> => {
    for (let round = 0; !signal.aborted; round++) await one(index, round);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, index) => attacker(index)));
}

/** Opens connections to a server and ignores their errors, until {@link Connections.close} closes all of them. */
export class Connections {
  readonly #endpoint: Endpoint;
  readonly #open = new Set<Socket>();

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Opens a TLS connection. Resolves after the handshake, or when the server closes the connection earlier. */
  async tls(): Promise<Socket> {
    const { host, port, ca } = this.#endpoint;
    const socket = connect({ host, port, ca, servername: 'localhost', localAddress } as ConnectionOptions);
    return this.#opened(socket, 'secureConnect');
  }

  /** Opens a connection without TLS. @param port by default the port of admission calls */
  async tcp(port = this.#endpoint.port): Promise<Socket> {
    return this.#opened(connectTcp({ port, host: this.#endpoint.host, localAddress }), 'connect');
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #opened<T extends Socket>(socket: T, ready: string): Promise<T> {
    this.#open.add(socket);
    return new Promise((resolve) => {
      const done = (): void => resolve(socket);
      socket
        .on('error', () => {})
        .once(ready, done)
        .once('close', () => {
          this.#open.delete(socket);
          done();
        });
    });
  }
}
