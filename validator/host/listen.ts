import type { ListenOptions } from '../platform.ts';
import { codeOf } from './errors.ts';
import { after, close, unwatch, watch } from './loop.ts';
import { native, pollEvent } from './native.ts';

/** How long a listener rests when the process may open no more descriptors, in milliseconds. */
const rest = 100;

/** `listen` of the platform. */
export async function listen(options: ListenOptions): Promise<{ close(): void } | string> {
  const { host, port, ipv6Only = false } = options;
  try {
    const socket = host === undefined ? bindAny(port) : bind(host, port, ipv6Only);
    try {
      native.listen(socket);
    } catch (error) {
      close(socket);
      throw error;
    }
    const state = { open: true };
    accept(socket, options, state);
    return {
      close: () => {
        state.open = false;
        close(socket);
      },
    };
  } catch (error) {
    return codeOf(error);
  }
}

/** Binds to all addresses of both families, or to those of IPv4 if that is not possible. */
function bindAny(port: number): number {
  try {
    return bind('::', port, false);
  } catch {
    return bind('0.0.0.0', port, false);
  }
}

function bind(host: string, port: number, ipv6Only: boolean): number {
  const socket = native.socket(host.includes(':') ? 6 : 4, 'stream');
  try {
    native.bind(socket, host, port, ipv6Only);
    return socket;
  } catch (error) {
    close(socket);
    throw error;
  }
}

/** Greets everyone who connects. */
function accept(socket: number, options: ListenOptions, state: { open: boolean }): void {
  watch(socket, pollEvent.in, () => {
    try {
      greet(native.accept(socket), options);
    } catch (error) {
      if (!['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'].includes(codeOf(error))) return;
      unwatch(socket);
      after(rest, () => {
        if (state.open) accept(socket, options, state);
      });
    }
  });
}

/** Sends the greeting and its end, and waits for the other end. */
function greet(connection: number, { greeting, accepted }: ListenOptions): void {
  watch(connection, pollEvent.in, () => {
    try {
      if (native.read(connection).length > 0) return;
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return;
    }
    close(connection);
  });
  try {
    const { address, port } = native.otherEnd(connection);
    accepted(address, port);
    native.send(connection, greeting);
    native.endWriting(connection);
  } catch {
    // the other end may be closed already
    close(connection);
  }
}
