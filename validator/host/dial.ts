import type { Connection, Dialled, DialOptions, NamedAddress } from '../platform.ts';
import { parseSocketAddress } from '../shared/addresses.ts';
import { codeOf } from './errors.ts';
import { lookUp as lookUpByResolver } from './look-up.ts';
import { after, close, unwatch, watch } from './loop.ts';
import { native, pollEvent } from './native.ts';

/** How long one of several addresses of a name is tried before the next: RFC 8305, "Connection Attempt Delay". */
const attemptDelay = 250;

/** How the connect to one address ended. */
type Ended = { socket: number } | { code: string; syscall: 'bind' | 'connect'; sent: boolean };

/** `dial` of the platform. */
export function dial(options: DialOptions): Promise<Dialled> {
  const { host, localAddress, limit, lookUp = lookUpByResolver } = options;
  return new Promise((resolve) => {
    let resolved = false;
    let settled = false;
    let abandon = (): void => {};
    const settle = (dialled: Dialled): void => {
      forget();
      abandon();
      abandon = () => {};
      settled = true;
      resolve(dialled);
    };
    const forget = after(limit, () => settle({ as: 'silent', resolved }));
    const tryAll = ([address = '', ...others]: string[], first?: string): void => {
      if (settled) return;
      resolved = true;
      const next = (code: string): void => tryAll(others, first ?? code);
      abandon = attempt(address, options.port, localAddress, (ended) => {
        forgetDelay();
        abandon = () => {};
        if ('socket' in ended) return settle({ as: 'connected', socket: new HostConnection(ended.socket) });
        if (others.length > 0) return next(ended.code);
        const sent = ended.sent || ended.syscall !== 'connect' || first !== undefined;
        return settle({ as: sent ? 'refused' : 'no-route', code: first ?? ended.code });
      });
      const forgetDelay =
        others.length === 0
          ? () => {}
          : after(attemptDelay, () => {
              abandon();
              next('ETIMEDOUT');
            });
    };
    if (parseSocketAddress(host) !== undefined) return tryAll([host]);
    lookUp(host).then(
      (addresses) => tryAll(alternating(addresses)),
      (error) => settled || settle({ as: 'refused', code: error.code }),
    );
  });
}

/** The addresses with their families in turns, beginning with the first one's: RFC 8305, 4. */
function alternating(addresses: NamedAddress[]): string[] {
  const first = addresses[0]?.family;
  const ofFirst = addresses.filter(({ family }) => family === first);
  const ofOther = addresses.filter(({ family }) => family !== first);
  const pairs = addresses.flatMap((_, index) => [ofFirst[index], ofOther[index]]);
  return pairs.flatMap((it) => it?.address ?? []);
}

/** Connects to one address. Returns a function that gives it up. */
function attempt(
  address: string,
  port: number,
  from: string | undefined,
  end: (ended: Ended) => void,
): () => void {
  let syscall: 'bind' | 'connect' = 'connect';
  let socket: number | undefined;
  let cancel = (): void => {};
  const fail = (code: string, sent: boolean): void => {
    if (socket !== undefined) close(socket);
    end({ code, syscall, sent });
  };
  const answered = (descriptor: number): void => {
    try {
      native.socketError(descriptor);
      unwatch(descriptor);
      end({ socket: descriptor });
    } catch (error) {
      fail(codeOf(error), true);
    }
  };
  try {
    const descriptor = native.socket(address.includes(':') ? 6 : 4, 'stream');
    socket = descriptor;
    syscall = 'bind';
    if (from !== undefined) native.bind(descriptor, from, 0, false);
    syscall = 'connect';
    watch(descriptor, pollEvent.out, () => answered(descriptor));
    native.connect(descriptor, address, port);
  } catch (error) {
    const code = codeOf(error);
    // a refusal is an answer, even if the kernel has it at once; the caller's own turn ends before it gets the result
    if (code !== 'EINPROGRESS') {
      // a socket that does not connect is writable too
      if (socket !== undefined) unwatch(socket);
      cancel = after(0, () => fail(code, code === 'ECONNREFUSED'));
    }
  }
  return () => {
    cancel();
    if (socket !== undefined) close(socket);
  };
}

/** A connection. The kernel keeps what arrives before there is a listener. */
class HostConnection implements Connection {
  readonly #socket: number;
  readonly localAddress: string;
  readonly localPort: number;
  #open = true;
  #onData: ((bytes: Uint8Array) => void) | undefined;
  #onClose = (): void => {};

  constructor(socket: number) {
    this.#socket = socket;
    const { address, port } = native.localEnd(socket);
    this.localAddress = address;
    this.localPort = port;
  }

  on(event: 'data' | 'close', listener: (bytes: Uint8Array) => void): void {
    if (event === 'close') this.#onClose = listener as () => void;
    else {
      this.#onData = listener;
      watch(this.#socket, pollEvent.in, () => this.#read());
    }
  }

  destroy(): void {
    if (this.#open) close(this.#socket);
    this.#open = false;
  }

  #read(): void {
    let bytes = new Uint8Array();
    try {
      bytes = native.read(this.#socket) as typeof bytes;
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return;
    }
    if (bytes.length > 0) {
      this.#onData?.(bytes);
      return;
    }
    this.destroy();
    this.#onClose();
  }
}
