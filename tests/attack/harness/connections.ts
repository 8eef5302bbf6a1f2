import { type Agent, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { type Answer as Exchanged, exchange } from '../../support/exchange.ts';
import type { Endpoint } from './direct-innocents.ts';

/** Attackers call from another address than the API server. */
const localAddress = '127.0.0.2';

/** What came back from a hostile call. An attacker expects anything, so no answer is one as well. */
export type Answer = Pick<Exchanged, 'status' | 'body'>;

/** Sends a whole body, on a connection of its own unless an agent is given. */
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

/** Goes on with something until the signal is aborted, so many times at once. */
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

/** Opens connections to a server that are closed by {@link Connections.close}, and never mind what becomes of them. */
export class Connections {
  readonly #endpoint: Endpoint;
  readonly #open = new Set<Socket>();

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Resolves with the socket after its handshake, or when it was closed before. */
  async tls(): Promise<Socket> {
    const { host, port, ca } = this.#endpoint;
    const socket = connect({ host, port, ca, servername: 'localhost', localAddress } as ConnectionOptions);
    return this.#opened(socket, 'secureConnect');
  }

  /** Without a handshake. @param port another than that of admission calls */
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
