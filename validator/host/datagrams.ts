import { type Address, type Family, formatAddress, parseSocketAddress } from '../shared/addresses.ts';
import { close, eventOf } from './loop.ts';
import { codeOf, native } from './native.ts';

/** The port of the discard service (RFC 863): a program that listens there ignores datagrams. */
const port = 9;

/** Linux's default hop limit (`net.ipv4.ip_default_ttl`, `net.ipv6.conf.*.hop_limit`). */
const usualHops = 64;

/** An ICMP message about one of our datagrams. */
export interface IcmpError {
  type: number;
  code: number;
  /** The sender of the message; undefined if the kernel does not report it. */
  from: Address | undefined;
  /** The part of the datagram's payload that the message quotes. */
  quoted: Uint8Array;
}

/** Sends datagrams, which no mesh redirects, and reads the ICMP answers to them. Needs no privileges. */
export class Datagrams {
  readonly #socket: number;
  #source: string | undefined;

  /** @param source the source address; by default, the kernel chooses one */
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
      // a full queue is not a failure, because more datagrams follow
      return code === 'EAGAIN' || code === 'ENOBUFS' ? undefined : code;
    }
  }

  /** Whether datagrams are still queued in this machine, for example until the neighbour's address is known. */
  get isWaiting(): boolean {
    return native.queued(this.#socket) > 0;
  }

  /** The ICMP messages that arrived since the last call. */
  errors(): IcmpError[] {
    return native
      .icmpErrors(this.#socket)
      .map(({ from, ...message }) => ({ ...message, from: parseSocketAddress(from) }));
  }

  /** Resolves when an answer arrives, or after this many milliseconds. */
  async answer(milliseconds: number): Promise<void> {
    // `poll` reports errors even if no event is requested
    await eventOf(this.#socket, 0, milliseconds);
  }

  close(): void {
    close(this.#socket);
  }
}
