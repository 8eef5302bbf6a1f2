import { type Address, type Family, formatAddress, parseSocketAddress } from '../shared/addresses.ts';
import { close, eventOf } from './loop.ts';
import { codeOf, native } from './native.ts';

/** The discard service (RFC 863): where something listens, it ignores datagrams. */
const port = 9;

/** The default of Linux (`net.ipv4.ip_default_ttl`, `net.ipv6.conf.*.hop_limit`). */
const usualHops = 64;

/** An ICMP message about a datagram of ours. */
export interface IcmpError {
  type: number;
  code: number;
  /** Who sent it; undefined if the kernel does not say. */
  from: Address | undefined;
  /** What it quotes of the datagram's payload. */
  quoted: Uint8Array;
}

/** Datagrams, and what routers and hosts answer to them by ICMP. They need no right, and no mesh redirects them. */
export class Datagrams {
  readonly #socket: number;
  #source: string | undefined;

  /** @param source the address to send from; by default, the kernel chooses one */
  constructor(family: Family, source?: Address) {
    this.#socket = native.datagrams(family === 'IPv4' ? 4 : 6);
    this.#source = source && formatAddress(source);
  }

  send(host: string, payload: Uint8Array, hops: number = usualHops): string | undefined {
    try {
      if (this.#source) native.bind(this.#socket, this.#source, 0);
      this.#source = undefined;
      native.sendTo(this.#socket, payload, host, port, hops);
      return undefined;
    } catch (error) {
      const code = codeOf(error);
      // without room in a queue, the next one will do
      return code === 'EAGAIN' || code === 'ENOBUFS' ? undefined : code;
    }
  }

  /** Whether datagrams wait in this machine, as they do until their neighbour's link-layer address is known. */
  get isWaiting(): boolean {
    return native.queued(this.#socket) > 0;
  }

  /** What arrived since the last call. */
  errors(): IcmpError[] {
    return native
      .icmpErrors(this.#socket)
      .map(({ from, ...message }) => ({ ...message, from: parseSocketAddress(from) }));
  }

  /** Resolves when an answer is there, or after a number of milliseconds. */
  async answer(milliseconds: number): Promise<void> {
    // a poll reports errors in any case
    await eventOf(this.#socket, 0, milliseconds);
  }

  close(): void {
    close(this.#socket);
  }
}
