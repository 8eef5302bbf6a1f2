import { type Address, type Family, parseSocketAddress } from '../shared/addresses.ts';
import { after, close, eventOf, unwatch, watch } from './loop.ts';
import { codeOf, native, pollEvent } from './native.ts';

/** After this many milliseconds, the next address of a name is tried too (RFC 8305, "Connection Attempt Delay"). */
const attemptDelay = 250;

/** How a TCP connect ended. */
export type Dialled =
  | { as: 'connected'; socket: Connection }
  /** This machine has no usable route, so no packet was sent. */
  | { as: 'no-route'; code: string }
  | { as: 'refused'; code: string }
  /** No answer in time. `resolved` is false if even the name was not resolved in time. */
  | { as: 'silent'; resolved: boolean };

type Unresolved = Extract<Dialled, { as: 'refused' | 'silent' }>;

export interface DialOptions {
  /** A name or an address; an IPv6 address may have its interface after %. */
  host: string;
  port: number;
  /** The source address; absent if the kernel should choose it. */
  from?: string | undefined;
  /** The source port, unless it is taken; absent or 0 if the kernel should choose it. */
  fromPort?: number;
  /** Milliseconds after which the connect counts as unanswered. */
  limit: number;
  /** Whether the code describes an ICMP error, such as `ICMP 3/3`, which is otherwise ECONNREFUSED like a reset. */
  seesIcmp?: boolean;
}

export async function dial(options: DialOptions): Promise<Dialled> {
  const { host, limit } = options;
  const deadline = native.now() + limit;
  const addresses = await addressesOf(host, limit);
  if (!Array.isArray(addresses)) return addresses;
  let first: string | undefined;
  for (const [index, address] of addresses.entries()) {
    const isLast = index === addresses.length - 1;
    const left = Math.max(deadline - native.now(), 0);
    const time = isLast ? left : Math.min(left, attemptDelay);
    const ended = await connect(address, time, options);
    if (ended.as === 'connected' || (isLast && (ended.as === 'silent' || first === undefined))) return ended;
    first ??= ended.as === 'silent' ? 'ETIMEDOUT' : ended.code;
  }
  return { as: 'refused', code: first ?? 'ENOTFOUND' };
}

/** The addresses of a name, or `host` itself if it is an address. If resolving fails, returns the dial's result. */
export function addressesOf(host: string, limit: number): Promise<string[] | Unresolved> {
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
  limit: number,
  { port, from, fromPort = 0, seesIcmp = false }: DialOptions,
): Promise<Dialled> {
  let socket = -1;
  let failed: 'no-route' | 'refused' = 'no-route';
  try {
    socket = native.socket(address.includes(':') ? 6 : 4, seesIcmp);
    failed = 'refused';
    if (from !== undefined || fromPort > 0)
      bindTo(socket, from ?? (address.includes(':') ? '::' : '0.0.0.0'), fromPort);
    failed = 'no-route';
    native.connect(socket, address, port);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'EINPROGRESS') {
      close(socket);
      // ECONNREFUSED is an answer, even if the kernel returns it without waiting
      return { as: code === 'ECONNREFUSED' ? 'refused' : failed, code };
    }
  }
  try {
    if (await eventOf(socket, pollEvent.out, limit)) {
      // an ICMP message that arrived while the kernel was sending leaves the connect pending, so it is read first
      const [message] = seesIcmp ? native.icmpErrors(socket) : [];
      if (message) {
        close(socket);
        const { type, code, from } = message;
        return { as: 'refused', code: `ICMP ${type}/${code} from ${from}` };
      }
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

function bindTo(socket: number, address: string, port: number): void {
  try {
    native.bind(socket, address, port);
  } catch (error) {
    if (port === 0 || codeOf(error) !== 'EADDRINUSE') throw error;
    native.bind(socket, address, 0);
  }
}

/** A TCP connection. The kernel buffers what arrives before `receive` is called. */
export class Connection {
  readonly #socket: number;
  /** Our own address, as the other end sees it unless a NAT rule changes it. */
  readonly source: Address[];
  readonly port: number;

  constructor(socket: number) {
    this.#socket = socket;
    const { address, port } = native.localEnd(socket);
    this.source = [parseSocketAddress(address) ?? []].flat();
    this.port = port;
  }

  /** Calls a function with the bytes that arrive, and with undefined at the end. */
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
 * Resolves a name with the system's resolver. Concurrent calls for a name share one look-up: the C library waits 5 s
 * for each name server that does not answer, so repeated look-ups would never reach the second server (resolv.conf(5)).
 */
export function lookUp(name: string): Promise<string[]> {
  const found = running.get(name) ?? begin(name).finally(() => running.delete(name));
  running.set(name, found);
  return found;
}

function begin(name: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    // /etc/hosts has names in lower case (Kubernetes, `hostAliases`), and musl compares them case-sensitively
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

/** A server that sends a token to every client. */
export interface Listener {
  /** Whether the server accepted a connection from this port and one of these addresses. */
  accepted(from: Address[], port: number): boolean;
  close(): void;
}

/** Listens on a port for one family, on all addresses or only on `at`. Returns the error code if this fails. */
export function listen(port: number, family: Family, token: Uint8Array, at?: string): Listener | string {
  const ends = new Set<string>();
  const socket = accepting(port, family, (connection) => greet(connection, token, ends), undefined, at);
  if (typeof socket === 'string') return socket;
  return {
    accepted: (from, fromPort) => from.some(({ hex }) => ends.has(`${hex} ${fromPort}`)),
    close: () => close(socket),
  };
}

/** Calls `act` for each connection. Returns the socket, or an error code. @param prepare called before listening */
export function accepting(
  port: number,
  family: Family,
  act: (connection: number) => void,
  prepare?: (socket: number) => void,
  at = family === 'IPv6' ? '::' : '0.0.0.0',
): number | string {
  let socket = -1;
  try {
    socket = native.socket(family === 'IPv6' ? 6 : 4, false);
    native.bind(socket, at, port);
    prepare?.(socket);
    native.listen(socket);
  } catch (error) {
    close(socket);
    return codeOf(error);
  }
  acceptAll(socket, act);
  return socket;
}

/** At most this many connections are accepted before other events are handled. */
const mostAccepted = 100;

/** Calls `act` for each connection that comes to a listener. */
export function acceptAll(listener: number, act: (connection: number) => void): void {
  watch(listener, pollEvent.in, () => {
    try {
      for (let count = 0; count < mostAccepted; count++) act(native.accept(listener));
    } catch {
      // no connection is waiting, or its other end has closed it
    }
  });
}

/** Records the other end, sends the token, closes the writing half, and waits until the other end closes. */
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
