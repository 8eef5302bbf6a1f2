import type { DatagramSocket, SocketError } from '../platform.ts';
import type { Family } from '../shared/addresses.ts';
import { codeOf, SystemError } from './errors.ts';
import { after, close, watch } from './loop.ts';
import { native, pollEvent } from './native.ts';

/** A UDP socket. As with Node, no listener is called before the caller's own turn is over. */
export class HostDatagramSocket implements DatagramSocket {
  readonly #family: Family;
  #socket: number | undefined;
  #closed = false;
  #onConnect = (): void => {};
  #onError = (_: SocketError): void => {};

  constructor(family: Family) {
    this.#family = family;
  }

  on(event: 'connect' | 'error', listener: (error: SocketError) => void): void {
    if (event === 'connect') this.#onConnect = listener as () => void;
    else this.#onError = listener;
  }

  connect(port: number, address: string): void {
    this.#soon(() => {
      try {
        const socket = native.socket(this.#family === 'IPv4' ? 4 : 6, 'datagram');
        this.#socket = socket;
        native.connect(socket, address, port);
        watch(socket, pollEvent.in, () => this.#read(socket));
      } catch (error) {
        this.disconnect();
        return this.#onError(errorOf(error));
      }
      this.#onConnect();
    });
  }

  disconnect(): void {
    if (this.#socket !== undefined) close(this.#socket);
    this.#socket = undefined;
  }

  send(bytes: Uint8Array, done: (error: SocketError | null) => void): void {
    const failure = this.#send(bytes);
    // Node waits for room, and reports nothing until there is some
    if (failure?.code === 'EAGAIN' || failure?.code === 'ENOBUFS') return;
    this.#soon(() => done(failure));
  }

  address(): { address: string; port: number } {
    if (this.#socket === undefined) throw new SystemError('EBADF');
    return native.localEnd(this.#socket);
  }

  close(): void {
    this.disconnect();
    this.#closed = true;
  }

  #send(bytes: Uint8Array): SystemError | null {
    try {
      native.send(this.#socket ?? -1, bytes);
      return null;
    } catch (error) {
      return errorOf(error);
    }
  }

  /** Reads and discards unsolicited data, or an error that the kernel reports. */
  #read(socket: number): void {
    try {
      native.read(socket);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') this.#onError(errorOf(error));
    }
  }

  #soon(act: () => void): void {
    after(0, () => {
      if (!this.#closed) act();
    });
  }
}

const errorOf = (error: unknown): SystemError => new SystemError(codeOf(error));
