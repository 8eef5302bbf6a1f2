import { type Address, type Family, parseSocketAddress } from '../shared/addresses.ts';
import { after, close, eventOf, unwatch, watch } from './loop.ts';
import { codeOf, native, pollEvent } from './native.ts';

/** How long one of several addresses of a name is tried before the next: RFC 8305, "Connection Attempt Delay". */
const attemptDelay = 250;

/** How a TCP connect ended. */
export type Dialled =
  | { as: 'connected'; socket: Connection }
  /** This machine's own routes refused it: no packet was sent. */
  | { as: 'no-route'; code: string }
  | { as: 'refused'; code: string }
  /** `resolved` is false if the name has no address yet. */
  | { as: 'silent'; resolved: boolean };

export interface DialOptions {
  /** A name or an address; an IPv6 address may have its interface after %. */
  host: string;
  port: number;
  /** The address to connect from, if it matters. */
  from?: string | undefined;
  /** Milliseconds after which the connect counts as unanswered. */
  limit: number;
}

export async function dial({ host, port, from, limit }: DialOptions): Promise<Dialled> {
  const deadline = native.now() + limit;
  const addresses = await addressesOf(host, limit);
  if (!Array.isArray(addresses)) return addresses;
  let first: string | undefined;
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    const left = Math.max(deadline - native.now(), 0);
    const ended = await connect(address, port, from, isLast ? left : Math.min(left, attemptDelay));
    if (ended.as === 'connected' || (isLast && (ended.as === 'silent' || first === undefined))) return ended;
    first ??= ended.as === 'silent' ? 'ETIMEDOUT' : ended.code;
  }
  return { as: 'refused', code: first ?? 'ENOTFOUND' };
}

function addressesOf(host: string, limit: number): Promise<string[] | Dialled> {
  if (parseSocketAddress(host) !== undefined) return Promise.resolve([host]);
  return new Promise((resolve) => {
    const forget = after(limit, () => resolve({ as: 'silent', resolved: false }));
    lookUp(host)
      .then(resolve, (error) => resolve({ as: 'refused', code: codeOf(error) }))
      .finally(forget);
  });
}

async function connect(
  address: string,
  port: number,
  from: string | undefined,
  limit: number,
): Promise<Dialled> {
  let socket = -1;
  let failed: 'no-route' | 'refused' = 'no-route';
  try {
    socket = native.socket(address.includes(':') ? 6 : 4);
    failed = 'refused';
    if (from !== undefined) native.bind(socket, from, 0);
    failed = 'no-route';
    native.connect(socket, address, port);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'EINPROGRESS') {
      close(socket);
      // a refusal is an answer, even if the kernel has it at once
      return { as: code === 'ECONNREFUSED' ? 'refused' : failed, code };
    }
  }
  try {
    if (await eventOf(socket, pollEvent.out, limit)) {
      native.socketError(socket);
      return { as: 'connected', socket: new Connection(socket) };
    }
    close(socket);
    return { as: 'silent', resolved: true };
  } catch (error) {
    close(socket);
    return { as: 'refused', code: codeOf(error) };
  }
}

/** A connection. The kernel keeps what arrives before something receives it. */
export class Connection {
  readonly #socket: number;
  /** The own address, as the other end sees it where nothing translates it. */
  readonly source: Address[];
  readonly port: number;

  constructor(socket: number) {
    this.#socket = socket;
    const { address, port } = native.localEnd(socket);
    this.source = [parseSocketAddress(address) ?? []].flat();
    this.port = port;
  }

  /** Calls a function with what arrives, and with nothing at the end. */
  receive(act: (bytes: Uint8Array | undefined) => void): void {
    watch(this.#socket, pollEvent.in, () => {
      try {
        const bytes = native.read(this.#socket);
        if (bytes.length > 0) return act(bytes);
      } catch (error) {
        if (codeOf(error) === 'EAGAIN') return;
      }
      unwatch(this.#socket);
      act(undefined);
    });
  }

  close(): void {
    close(this.#socket);
  }
}

const running = new Map<string, Promise<string[]>>();

/**
 * The addresses of a name, by the system's resolver. A look-up in progress serves the next caller too: the C library
 * waits 5 s for each name server that does not answer, and would never reach the second one (resolv.conf(5)).
 */
export function lookUp(name: string): Promise<string[]> {
  const found = running.get(name) ?? begin(name).finally(() => running.delete(name));
  running.set(name, found);
  return found;
}

function begin(name: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    // names in /etc/hosts are in lower case (Kubernetes, `hostAliases`), and musl compares them as they are
    const pipe = native.lookUp(name.toWellFormed().toLowerCase());
    let answer = '';
    watch(pipe, pollEvent.in, () => {
      const bytes = native.read(pipe);
      answer += String.fromCharCode(...bytes);
      if (bytes.length > 0) return;
      close(pipe);
      if (answer.startsWith('!')) reject(new Error(answer.slice(1)));
      else resolve(answer.split(' '));
    });
  });
}

/** A server that sends a token to everyone who connects. */
export interface Listener {
  /** Whether it accepted a connection that came from one of these addresses and from this port. */
  accepted(from: Address[], port: number): boolean;
  close(): void;
}

/** Listens on a port of one family, on all addresses of the pod or on one, or returns the error's code. */
export function listen(port: number, family: Family, token: Uint8Array, at?: string): Listener | string {
  const ends = new Set<string>();
  const socket = accepting(port, family, (connection) => greet(connection, token, ends), undefined, at);
  if (typeof socket === 'string') return socket;
  return {
    accepted: (from, fromPort) => from.some(({ hex }) => ends.has(`${hex} ${fromPort}`)),
    close: () => close(socket),
  };
}

/** Listens as {@link listen} does. Returns the socket, or the error's code. @param prepare called before it listens */
export function accepting(
  port: number,
  family: Family,
  act: (connection: number) => void,
  prepare?: (socket: number) => void,
  at = family === 'IPv6' ? '::' : '0.0.0.0',
): number | string {
  let socket = -1;
  try {
    socket = native.socket(family === 'IPv6' ? 6 : 4);
    native.bind(socket, at, port);
    prepare?.(socket);
    native.listen(socket);
  } catch (error) {
    close(socket);
    return codeOf(error);
  }
  watch(socket, pollEvent.in, () => {
    try {
      for (;;) act(native.accept(socket));
    } catch {
      // none is left, or the other end is closed already
    }
  });
  return socket;
}

/** Notes the other end, sends it the token and its end, and waits until it closes. */
function greet(connection: number, token: Uint8Array, ends: Set<string>): void {
  watch(connection, pollEvent.in, () => {
    try {
      if (native.read(connection).length > 0) return;
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return;
    }
    close(connection);
  });
  const { address, port } = native.otherEnd(connection);
  ends.add(`${parseSocketAddress(address)?.hex} ${port}`);
  native.send(connection, token);
  native.endWriting(connection);
}
