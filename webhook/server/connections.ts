import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { handshakesOfTurn, knownAddresses, mostPipelined } from '../lib/limits.ts';
import { evictOldest } from '../lib/maps.ts';
import { EventLoopBudget } from './event-loop-budget.ts';

/** What a server with connections is asked here. */
type Bounded = Pick<HttpServer, 'on' | 'listeners' | 'removeAllListeners'>;
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An open connection, from the accept to its end. */
interface Connection {
  socket: Socket;
  /** Answers that the client does not have yet. */
  open: Set<ServerResponse>;
  /** Closes it when its TLS handshake takes too long. */
  handshake?: NodeJS.Timeout | undefined;
}

/**
 * Bounds the connections of a server, and the requests that a connection sends without waiting for answers: Go's HTTP
 * client, and so the API server, sends one at a time. At the bound a new connection replaces another one, so that a
 * client that opens many and sends nothing does not keep others out.
 *
 * A TLS handshake begins when the client's first bytes are here, a few in each turn of the event loop: a thousand clients
 * that begin at once would keep it busy with nothing else.
 */
export class Connections {
  readonly #max: number;
  readonly #closed: (limit: 'connections' | 'pipelined') => void;
  readonly #handshakeTimeout: number | undefined;
  readonly #handshakes = new EventLoopBudget(handshakesOfTurn);
  /** By the client's address and port, which a TLS socket shares with the socket below it; least recently used first. */
  readonly #open = new Map<string, Connection>();
  /** Addresses that had an answer of 200, the API server's among them; least recently answered first. */
  readonly #known = new Set<string>();

  /**
   * @param max connections at the same time
   * @param closed called for each connection that is closed because of a bound
   * @param handshakeTimeout milliseconds from the accept to the end of the TLS handshake, for a server with TLS
   */
  constructor(max: number, closed: (limit: 'connections' | 'pipelined') => void, handshakeTimeout?: number) {
    this.#max = max;
    this.#closed = closed;
    this.#handshakeTimeout = handshakeTimeout;
  }

  /** Bounds the connections of a server that does not listen yet. */
  bound(server: Bounded): void {
    const handlers = server.listeners('request') as Handler[];
    server.removeAllListeners('request');
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#admits(request, response)) for (const handler of handlers) handler(request, response);
    };
    // Node answers an `Expect` that it does not know by itself, without a bound; a server may ignore it as well
    server.on('request', handle).on('checkExpectation', handle);
    const takers = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#add(socket, () => {
        for (const take of takers) take.call(server, socket);
      });
    });
    server.on('secureConnection', (socket: Socket) => {
      clearTimeout(this.#open.get(peerOf(socket))?.handshake);
    });
  }

  /** @param take gives the socket to the server */
  #add(socket: Socket, take: () => void): void {
    if (this.#open.size >= this.#max) this.#evict();
    const peer = peerOf(socket);
    const connection: Connection = { socket, open: new Set() };
    this.#open.set(peer, connection);
    socket.once('close', () => {
      clearTimeout(connection.handshake);
      if (this.#open.get(peer) === connection) this.#open.delete(peer);
    });
    if (this.#handshakeTimeout === undefined) {
      take();
      return;
    }
    const half = this.#handshakeTimeout / 2;
    // in two steps: what came while the event loop was busy is read before the second one ends
    connection.handshake = setTimeout(() => {
      connection.handshake = setTimeout(() => socket.destroy(), half);
    }, half);
    // it may break while it waits
    socket.on('error', () => {});
    socket.once('readable', async () => {
      await this.#handshakes.turn(this.isKnown(socket));
      // a client that sent nothing has closed its side
      if (socket.readableLength === 0) socket.destroy();
      else if (!socket.destroyed) take();
    });
  }

  #evict(): void {
    this.#closed('connections');
    const [peer, connection] = this.#evictionCandidate() ?? [];
    if (peer === undefined) return;
    this.#open.delete(peer);
    connection?.socket.destroy();
  }

  /**
   * The connection that makes room for a new one: of an address that had no valid answer yet, else the one that is
   * unused for longest. A connection whose request is worked on makes room only where all are.
   */
  #evictionCandidate(): [string, Connection] | undefined {
    let unused: [string, Connection] | undefined;
    for (const entry of this.#open) {
      const [, connection] = entry;
      if (isBusy(connection)) continue;
      if (!this.isKnown(connection.socket)) return entry;
      unused ??= entry;
    }
    return unused ?? [...this.#open][0];
  }

  /** Whether the client's address had an answer of 200. */
  isKnown({ remoteAddress = '' }: Socket): boolean {
    return this.#known.has(remoteAddress);
  }

  /** Whether a request is taken up; its connection is closed where it is not. */
  #admits({ socket }: IncomingMessage, response: ServerResponse): boolean {
    // what came in one piece with a request that was too much is still handed over
    if (socket.destroyed) return false;
    const peer = peerOf(socket);
    const connection = this.#open.get(peer);
    if (!connection) return true;
    if (connection.open.size >= mostPipelined) {
      this.#closed('pipelined');
      socket.destroy();
      return false;
    }
    connection.open.add(response);
    response.once('close', () => {
      connection.open.delete(response);
      this.#answered(peer, connection, response.writableFinished && response.statusCode === 200);
    });
    return true;
  }

  #answered(peer: string, connection: Connection, isValid: boolean): void {
    if (this.#open.get(peer) !== connection) return;
    this.#open.delete(peer);
    this.#open.set(peer, connection);
    const { remoteAddress } = connection.socket;
    if (!isValid || remoteAddress === undefined) return;
    this.#known.delete(remoteAddress);
    this.#known.add(remoteAddress);
    evictOldest(this.#known, knownAddresses);
  }
}

/** Whether a request is there whole, and has no answer yet. */
const isBusy = ({ open }: Connection): boolean =>
  [...open].some((response) => response.req.complete && !response.writableEnded);

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
