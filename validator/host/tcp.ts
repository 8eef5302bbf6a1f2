import { type Address, type Family, parseSocketAddress } from '../shared/addresses.ts';
import { after, close, eventOf, watch } from './loop.ts';
import { codeOf, native, pollEvent } from './native.ts';

/** How a TCP connect ended. */
export type Dialled =
  /** `source` is our own address. The other end sees the same address, unless NAT changes it. */
  | { as: 'connected'; socket: number; source: Address[]; port: number }
  /** This machine has no usable route, so no packet was sent. */
  | { as: 'no-route'; code: string }
  | { as: 'refused'; code: string }
  | { as: 'silent' };

export interface DialOptions {
  /** An address; an IPv6 address may be followed by `%` and its interface. */
  host: string;
  port: number;
  /** The source address; absent if the kernel should choose it. */
  from?: string | undefined;
  /** The source port; absent or 0 if the kernel should choose it. */
  fromPort?: number;
  /** Milliseconds after which the connect counts as unanswered. */
  limit: number;
  /** Whether the code names ICMP errors. Otherwise `ICMP 3/3`, for example, is ECONNREFUSED like a reset. */
  seesIcmp?: boolean;
}

/** Returns the addresses of a host, an error's code if there are none, or `no answer` after `limit` milliseconds. */
export function addressesOf(host: string, limit: number): Promise<string[] | string> {
  if (parseSocketAddress(host) !== undefined) return Promise.resolve([host]);
  return new Promise((resolve) => {
    const forget = after(limit, () => resolve('no answer'));
    lookUp(host)
      .then(resolve, (error) => resolve(codeOf(error)))
      .finally(forget);
  });
}

export async function dial(options: DialOptions): Promise<Dialled> {
  const { host, port, from, fromPort = 0, limit, seesIcmp = false } = options;
  const isIPv6 = host.includes(':');
  let socket = -1;
  let failed: 'no-route' | 'refused' = 'no-route';
  try {
    socket = native.socket(isIPv6 ? 6 : 4, seesIcmp);
    failed = 'refused';
    if (from !== undefined || fromPort > 0)
      native.bind(socket, from ?? (isIPv6 ? '::' : '0.0.0.0'), fromPort);
    failed = 'no-route';
    native.connect(socket, host, port);
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
      // reads ICMP messages first: one that arrived while the kernel was sending leaves the connect pending
      const [message] = seesIcmp ? native.icmpErrors(socket) : [];
      if (message) {
        close(socket);
        const { type, code, from } = message;
        return { as: 'refused', code: `ICMP ${type}/${code} from ${from}` };
      }
      native.socketError(socket);
      const own = native.localEnd(socket);
      const source = [parseSocketAddress(own.address) ?? []].flat();
      return { as: 'connected', socket, source, port: own.port };
    }
    close(socket);
    return { as: 'silent' };
  } catch (error) {
    close(socket);
    return { as: 'refused', code: codeOf(error) };
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

/** Calls `act` for each connection. Returns the socket, or an error's code. @param prepare called before listening */
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
