import type { Family } from '../shared/addresses.ts';
import { close, watch } from './loop.ts';
import { codeOf, native, pollEvent } from './native.ts';

/** The discard service (RFC 863): it ignores datagrams. */
const port = 9;
const payload = new Uint8Array(1);

/** Datagrams to the gateway. They need no right, and no mesh redirects them. */
export class Datagrams {
  readonly #host: string;
  readonly #family: Family;
  #socket: number | undefined;
  /** How many datagrams the kernel accepted. */
  sends = 0;
  /** Whether the gateway answered that nothing listens there. The kernel reports that to a connected socket only. */
  refused = false;
  /** The error of the last send, if it failed. */
  error: string | undefined;

  /** Sends the first datagram. */
  constructor(host: string, family: Family) {
    this.#host = host;
    this.#family = family;
    this.send();
  }

  /** The socket's own port; 0 before the first was sent. */
  get localPort(): number {
    return this.#socket === undefined ? 0 : native.localEnd(this.#socket).port;
  }

  /** Sends one. Connects first if that failed before, as it does during duplicate address detection. */
  send(): void {
    try {
      this.#socket ??= this.#connect();
      native.send(this.#socket, payload);
      this.sends += 1;
      this.error = undefined;
    } catch (error) {
      this.#note(codeOf(error));
    }
  }

  close(): void {
    if (this.#socket !== undefined) close(this.#socket);
  }

  #connect(): number {
    const socket = native.socket(this.#family === 'IPv4' ? 4 : 6, 'datagram');
    try {
      native.connect(socket, this.#host, port);
      // no address of the pod is usable yet, so the kernel uses that of `lo` and sends no solicitation (`ndisc_send_ns`)
      if (native.localEnd(socket).address === '::1') throw new Error('EADDRNOTAVAIL');
    } catch (error) {
      close(socket);
      throw error;
    }
    watch(socket, pollEvent.in, () => {
      try {
        native.read(socket);
      } catch (error) {
        this.#note(codeOf(error));
      }
    });
    return socket;
  }

  #note(code: string): void {
    if (code === 'ECONNREFUSED') this.refused = true;
    // without room in a queue, the next one will do
    else if (code !== 'EAGAIN' && code !== 'ENOBUFS') this.error = code;
  }
}
