import type { Socket } from 'node:net';
import { handshakes as limits } from '../lib/limits.ts';
import { Turns } from './turns.ts';

/** A connection that is accepted, and whose TLS handshake has not ended. */
interface Handshake {
  /** Closes the connection when it has taken too long. */
  timer: NodeJS.Timeout;
  /** Where its turn comes; unknown before its client begins. */
  turns?: Turns;
  /** Gives the socket to the TLS server. */
  begin: () => void;
  /** When the TLS server got the socket, in milliseconds of `performance.now()`. */
  since?: number;
}

/**
 * Paces the TLS handshakes of a port. A client may connect and send its ClientHello at any time later, so it is not
 * enough to pace the accept: a thousand clients that begin at once would keep the event loop busy with nothing else.
 * The TLS server gets a socket when its first bytes are here and it is its turn.
 *
 * A client may also stop after its ClientHello. So only some handshakes are in progress at a time, and a slow one is
 * closed while others wait. Known callers have turns of their own: strangers do not keep them waiting.
 */
export class Handshakes {
  readonly #timeout: number;
  readonly #known = newTurns();
  readonly #strangers = newTurns();
  readonly #open = new Map<Socket, Handshake>();
  #slowTimer: NodeJS.Timeout | undefined;

  /** @param timeout milliseconds from the accept to the end of the handshake */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  /**
   * @param socket as it was accepted: nobody has read from it
   * @param isKnown whether its address is a known caller's; asked when the client begins
   * @param begin gives the socket to the TLS server
   */
  pace(socket: Socket, isKnown: () => boolean, begin: () => void): void {
    const timer = setTimeout(() => socket.destroy(), this.#timeout);
    // it may break while it waits
    const ignore = (): void => {};
    const handshake: Handshake = {
      timer,
      begin: () => {
        handshake.since = performance.now();
        socket.off('error', ignore);
        begin();
      },
    };
    this.#open.set(socket, handshake);
    socket
      .on('error', ignore)
      .once('close', () => this.ended(socket))
      .once('readable', () => {
        const { readableLength, remoteAddress } = socket;
        // a client that sends nothing has closed its side
        if (readableLength === 0 || readableLength > limits.helloBytes) socket.destroy();
        else {
          handshake.turns = isKnown() ? this.#known : this.#strangers;
          handshake.turns.run(handshake.begin, remoteAddress);
          this.#watchSlow();
        }
      });
  }

  /** A handshake came to its end, or its connection was closed. */
  ended(socket: Socket): void {
    const handshake = this.#open.get(socket);
    if (!handshake) return;
    this.#open.delete(socket);
    const { timer, turns, begin, since } = handshake;
    clearTimeout(timer);
    if (since !== undefined) turns?.ended();
    else turns?.cancel(begin, socket.remoteAddress);
  }

  /** While others wait for their turn, handshakes whose clients are slow are closed. */
  #watchSlow(): void {
    if (!this.#known.waiting && !this.#strangers.waiting) return;
    this.#slowTimer ??= setInterval(() => {
      const slow = performance.now() - limits.slow;
      for (const [socket, { turns, since }] of this.#open) {
        if (since !== undefined && since < slow && turns?.waiting) socket.destroy();
      }
      if (this.#known.waiting || this.#strangers.waiting) return;
      clearInterval(this.#slowTimer);
      this.#slowTimer = undefined;
    }, limits.slowCheck).unref();
  }
}

const newTurns = (): Turns => new Turns({ count: limits.perTurn, atATime: limits.atATime });
