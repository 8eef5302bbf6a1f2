import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { handshakesOfTurn, knownAddresses, mostPipelined } from '../lib/limits.ts';
import { evictOldest } from '../lib/maps.ts';
import { Semaphore } from '../lib/semaphore.ts';

type BoundedServer = Pick<HttpServer, 'on' | 'listeners' | 'removeAllListeners'>;
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Connection {
  /** The connection's key in `#open`. It is kept, because a closed socket no longer has its address. */
  peer: string;
  socket: Socket;
  /** Responses that are not completely written yet. */
  unanswered: Set<ServerResponse>;
  /** The timer that closes the connection if its TLS handshake takes too long. */
  handshake?: NodeJS.Timeout | undefined;
}

/**
 * Limits the connections of a server, and the unanswered requests of each connection: Go's HTTP client, and so the API
 * server, sends one request at a time. At the limit, a new connection replaces an open one. In each turn of the event
 * loop, only a few TLS handshakes begin, and only with clients that have sent their first bytes.
 */
export class Connections {
  readonly #max: number;
  readonly #closed: (limit: 'connections' | 'pipelined') => void;
  readonly #handshakeTimeout: number | undefined;
  readonly #handshakes = new Semaphore(handshakesOfTurn);
  /** Connections by the client's address and port, which TLS and TCP socket share; least recently used first. */
  readonly #open = new Map<string, Connection>();
  /** Addresses, such as the API server's, that received an answer with status 200; least recently answered first. */
  readonly #known = new Set<string>();

  /** @param handshakeTimeout milliseconds for a TLS handshake, after the connection was accepted; only with TLS */
  constructor(max: number, closed: (limit: 'connections' | 'pipelined') => void, handshakeTimeout?: number) {
    this.#max = max;
    this.#closed = closed;
    this.#handshakeTimeout = handshakeTimeout;
  }

  /** Limits the connections of a server that does not listen yet. */
  bound(server: BoundedServer): void {
    const handlers = server.listeners('request') as Handler[];
    server.removeAllListeners('request');
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      if (this.#admits(request, response)) for (const handler of handlers) handler(request, response);
    };
    // By default, Node itself answers requests with an unknown `Expect` header, without this limit. A server may ignore
    // the header.
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
    const connection: Connection = { peer, socket, unanswered: new Set() };
    this.#open.set(peer, connection);
    socket.once('close', () => {
      clearTimeout(connection.handshake);
      if (this.#open.get(peer) === connection) this.#open.delete(peer);
    });
    if (this.#handshakeTimeout === undefined) take();
    else this.#handshake(connection, this.#handshakeTimeout, take);
  }

  #handshake(connection: Connection, time: number, take: () => void): void {
    const { socket } = connection;
    connection.handshake = setTimeout(() => socket.destroy(), time);
    // Ignore errors until the server owns the socket.
    socket.on('error', () => {});
    socket.once('readable', async () => {
      const isInTime = await this.#handshakes.turn(time, this.isKnown(socket));
      // readable, but without a byte: the client has closed its side
      if (!isInTime || socket.readableLength === 0) socket.destroy();
      else if (!socket.destroyed) take();
    });
  }

  #evict(): void {
    this.#closed('connections');
    const { peer, socket } = this.#evictionCandidate();
    this.#open.delete(peer);
    socket.destroy();
  }

  /** The connection to drop at the limit: preferably idle, then from an unknown address, then least recently used. */
  #evictionCandidate(): Connection {
    const connections = [...this.#open.values()];
    const idle = connections.filter((connection) => !isBusy(connection));
    const unknown = idle.find(({ socket }) => !this.isKnown(socket));
    return (unknown ?? idle[0] ?? connections[0]) as Connection;
  }

  /** Whether the client's address has received an answer with status 200. */
  isKnown({ remoteAddress = '' }: Socket): boolean {
    return this.#known.has(remoteAddress);
  }

  /** Whether to handle a request. If it exceeds its connection's limit, the connection is closed. */
  #admits({ socket }: IncomingMessage, response: ServerResponse): boolean {
    // Node may still emit requests that it had already parsed when we destroyed the socket.
    if (socket.destroyed) return false;
    const connection = this.#open.get(peerOf(socket));
    if (!connection) return true;
    if (connection.unanswered.size >= mostPipelined) {
      this.#closed('pipelined');
      socket.destroy();
      return false;
    }
    connection.unanswered.add(response);
    response.once('close', () => {
      connection.unanswered.delete(response);
      this.#answered(connection, response.writableFinished && response.statusCode === 200);
    });
    return true;
  }

  #answered(connection: Connection, isValid: boolean): void {
    const { peer } = connection;
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

/** Whether a complete request awaits its answer. */
const isBusy = ({ unanswered }: Connection): boolean =>
  [...unanswered].some((response) => response.req.complete && !response.writableEnded);

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
