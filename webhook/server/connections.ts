import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connectionsPerTurn, mostPipelined } from '../lib/limits.ts';
import { Callers } from './callers.ts';
import { type Connection, type ConnectionState, ConnectionTable } from './connection-table.ts';
import { Handshakes } from './handshakes.ts';
import { Turns } from './turns.ts';

/** What a server with connections is asked here. */
type Bounded = Pick<HttpServer, 'on' | 'listeners' | 'removeAllListeners'>;
type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Closed = (limit: 'connections' | 'pipelined') => void;

/**
 * Bounds the connections of a server. At the bound a new connection replaces the one that is missed least, so that
 * somebody who opens many and sends nothing does not keep others out: see {@link ConnectionTable.leastMissed}.
 *
 * Requests that are sent one behind the other, without waiting for answers, are bounded as well: Node takes up all that
 * have come before it looks at anybody else. Go's HTTP client, and so the API server, sends one at a time.
 */
export class Connections {
  readonly #max: number;
  readonly #closed: Closed;
  readonly #turns = new Turns({ count: connectionsPerTurn });
  readonly #handshakes: Handshakes | undefined;
  readonly #callers = new Callers();
  readonly #table: ConnectionTable;
  /** A TLS socket has the ports of the socket below it. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #bySocket = new WeakMap<Socket, Connection>();

  /**
   * @param max connections at the same time
   * @param answerTimeout milliseconds within which every answer is made and read
   * @param closed told of each connection that is closed because of a bound
   * @param handshakeTimeout milliseconds from the accept to the end of the TLS handshake, for a server with TLS
   */
  constructor(max: number, answerTimeout: number, closed: Closed, handshakeTimeout?: number) {
    this.#max = max;
    this.#table = new ConnectionTable(answerTimeout, this.#callers);
    this.#closed = closed;
    this.#handshakes = handshakeTimeout === undefined ? undefined : new Handshakes(handshakeTimeout);
  }

  get size(): number {
    return this.#table.size;
  }

  /** Bounds the connections of a server that does not listen yet. */
  bound(server: Bounded): void {
    const handlers = server.listeners('request') as Handler[];
    server.removeAllListeners('request');
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#admits(request.socket)) for (const handle of handlers) handle(request, response);
    };
    // Node answers an `Expect` that it does not know by itself, without a bound; a server may ignore it as well
    server.on('request', take).on('checkExpectation', take);
    const takers = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (!this.#add(socket)) return;
      this.#pace(socket, () => {
        for (const take of takers) take.call(server, socket);
      });
    });
    server.on('secureConnection', (socket: Socket) => {
      const connection = this.#byPeer.get(peerOf(socket));
      if (!connection) return;
      this.#bySocket.set(socket, connection);
      this.#handshakes?.ended(connection.socket);
    });
  }

  /** A request of this connection has arrived whole, and is worked on. */
  working(request: IncomingMessage): void {
    this.#enter(request, 'busy');
  }

  /**
   * An answer on this connection was written.
   *
   * @param valid whether the request was one that this server is there for: its address is a known caller's then
   */
  answered(request: IncomingMessage, valid = false): void {
    const connection = this.#bySocket.get(request.socket);
    if (connection) connection.open -= 1;
    if (connection && valid) this.#callers.answered(connection.address, performance.now());
    this.#enter(request, 'idle');
  }

  /** Gives a connection to the server when it is its turn. */
  #pace(socket: Socket, take: () => void): void {
    const { remoteAddress: address = '' } = socket;
    if (this.#handshakes) {
      this.#handshakes.pace(socket, () => this.#callers.knows(address, performance.now()), take);
      return;
    }
    // it may break while it waits
    const ignore = (): void => {};
    socket.on('error', ignore);
    this.#turns.run(() => {
      socket.off('error', ignore);
      if (!socket.destroyed) take();
    }, address);
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
    parseNoMore(socket);
    socket.destroy();
    return false;
  }

  #enter({ socket }: IncomingMessage, state: ConnectionState): void {
    const connection = this.#bySocket.get(socket);
    if (connection) this.#table.enter(connection, state, performance.now());
  }

  /** @returns whether there is room for it; it is closed where there is none */
  #add(socket: Socket): boolean {
    const now = performance.now();
    const address = socket.remoteAddress ?? '';
    const connection: Connection = { socket, address, state: 'new', since: now, open: 0 };
    if (this.#table.size >= this.#max) {
      const victim = this.#table.leastMissed(address, now);
      this.#closed('connections');
      if (!victim) {
        socket.destroy();
        return false;
      }
      this.#table.remove(victim);
      victim.socket.destroy();
    }
    const peer = peerOf(socket);
    this.#table.add(connection);
    this.#byPeer.set(peer, connection);
    this.#bySocket.set(socket, connection);
    socket.once('close', () => {
      this.#table.remove(connection);
      if (this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
    });
    return true;
  }
}

/**
 * Stops Node's parser of HTTP, which otherwise makes a request of everything that has arrived in one piece, though its
 * connection is closed: 64 connections with 64 KiB of short requests each block the event loop for seconds. There is no
 * documented way: the parser stops where this function of Node's returns 2, as for an upgrade.
 *
 * Source: `parserOnHeadersComplete` in https://github.com/nodejs/node/blob/v24.x/lib/_http_common.js
 */
function parseNoMore(socket: Socket & { parser?: { onIncoming?: unknown } | null }): void {
  if (socket.parser) socket.parser.onIncoming = () => 2;
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
