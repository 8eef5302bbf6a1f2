import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { handshakesPerTurn, mostPipelined } from '../lib/limits.ts';
import { Turns } from './turns.ts';

interface Connection {
  socket: Socket;
  address: string;
  /** `new`: has never had an answer, and sends its first request at best. */
  state: 'new' | 'idle' | 'busy';
  /** When it came into this state, in milliseconds of `performance.now()`. */
  since: number;
  /** Requests that have no answer yet. */
  open: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Bounds the connections of a server. At the bound a new connection replaces the one that is missed least, so that
 * somebody who opens many and sends nothing does not keep others out:
 *
 * 1. the oldest that was never answered, whether it is in its handshake or holds a request back,
 * 2. the one whose client has not read its answer for longer than any answer takes,
 * 3. the one that has been idle for longest after an answer.
 *
 * Within each group, those of the address that has the most connections go first. Where all others are being answered, the new one is closed.
 *
 * Requests that are sent one behind the other, without waiting for answers, are bounded as well: Node takes up all that
 * have come before it looks at anybody else. Go's HTTP client, and so the API server, sends one at a time.
 */
export class Connections {
  readonly #max: number;
  readonly #answerTimeout: number;
  readonly #closed: (limit: 'connections' | 'pipelined') => void;
  readonly #turns = new Turns({ count: handshakesPerTurn });
  readonly #open = new Map<Socket, Connection>();
  readonly #perAddress = new Map<string, number>();
  /** A TLS socket has the ports of the socket below it. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();

  /**
   * @param max connections at the same time
   * @param answerTimeout milliseconds within which every answer is made and read
   * @param closed told of each connection that is closed because of a bound
   */
  constructor(max: number, answerTimeout: number, closed: (limit: 'connections' | 'pipelined') => void) {
    this.#max = max;
    this.#answerTimeout = answerTimeout;
    this.#closed = closed;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Bounds the connections of a server that does not listen yet. */
  bound(server: Pick<HttpServer, 'on' | 'listeners' | 'removeAllListeners'>): void {
    const handlers = server.listeners('request') as Handler[];
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.#admits(request.socket)) for (const handle of handlers) handle(request, response);
    });
    const takers = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#add(socket);
      // it may break while it waits
      const ignore = (): void => {};
      socket.on('error', ignore);
      this.#turns.run(() => {
        socket.off('error', ignore);
        if (!socket.destroyed) for (const take of takers) take.call(server, socket);
      }, socket.remoteAddress);
    });
    server.on('secureConnection', (socket: Socket) => {
      const connection = this.#byPeer.get(peerOf(socket));
      if (connection) this.#bySocket.set(socket, connection);
    });
  }

  /** A request of this connection has arrived whole, and is worked on. */
  working(request: IncomingMessage): void {
    this.#enter(request, 'busy');
  }

  /** An answer on this connection was written. */
  answered(request: IncomingMessage): void {
    const connection = this.#bySocket.get(request.socket);
    if (connection) connection.open -= 1;
    this.#enter(request, 'idle');
  }

  /** Whether a request is taken up; its connection is closed where it is not. */
  #admits(socket: Socket): boolean {
    const connection = this.#bySocket.get(socket);
    if (!connection) return true;
    // what came in one piece with a request that was too much is still handed over
    if (socket.destroyed) return false;
    if (connection.open < mostPipelined) {
      connection.open += 1;
      return true;
    }
    this.#closed('pipelined');
    socket.destroy();
    return false;
  }

  #enter({ socket }: IncomingMessage, state: Connection['state']): void {
    const connection = this.#bySocket.get(socket);
    if (!connection) return;
    connection.state = state;
    connection.since = performance.now();
  }

  #add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const connection: Connection = { socket, address, state: 'new', since: performance.now(), open: 0 };
    if (this.#open.size >= this.#max) {
      const victim = this.#leastMissed();
      this.#closed('connections');
      if (!victim) {
        socket.destroy();
        return;
      }
      this.#forget(victim);
      victim.socket.destroy();
    }
    const peer = peerOf(socket);
    this.#open.set(socket, connection);
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    this.#byPeer.set(peer, connection);
    this.#bySocket.set(socket, connection);
    socket.once('close', () => {
      this.#forget(connection);
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
    });
  }

  #forget({ socket, address }: Connection): void {
    if (!this.#open.delete(socket)) return;
    const left = (this.#perAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#perAddress.delete(address);
    else this.#perAddress.set(address, left);
  }

  #leastMissed(): Connection | undefined {
    const stuck = performance.now() - this.#answerTimeout;
    let best: Connection | undefined;
    let highest = 0;
    for (const connection of this.#open.values()) {
      const { address, state, since } = connection;
      const group = state === 'new' ? 3 : state === 'idle' ? 1 : since < stuck ? 2 : 0;
      if (group === 0) continue;
      const rank = group * manyConnections + (this.#perAddress.get(address) ?? 0);
      if (rank < highest || (rank === highest && best && since >= best.since)) continue;
      [best, highest] = [connection, rank];
    }
    return best;
  }
}

/** More than any server here has. */
const manyConnections = 1e6;

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
