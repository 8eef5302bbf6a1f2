import { type Address, type Family, parseSocketAddress } from '../shared/addresses.ts';
import { close, watch } from './loop.ts';
import { codeOf, native, pollEvent } from './native.ts';

/** A server that sends a token to everyone who connects. */
export interface Listener {
  /** Whether it accepted a connection that came from one of these addresses and from this port. */
  accepted(from: Address[], port: number): boolean;
  close(): void;
}

/** Listens on a port of one family, on all addresses of the pod, or returns the error's code. */
export function listen(port: number, family: Family, token: Uint8Array): Listener | string {
  const ends = new Set<string>();
  const socket = accepting(port, family, (connection) => greet(connection, token, ends));
  if (typeof socket === 'string') return socket;
  return {
    accepted: (from, fromPort) => from.some(({ hex }) => ends.has(`${hex} ${fromPort}`)),
    close: () => close(socket),
  };
}

/**
 * Listens as {@link listen} does, and calls a function with each connection. Returns the socket, or the error's code.
 *
 * @param prepare called with the socket before it listens
 */
export function accepting(
  port: number,
  family: Family,
  act: (connection: number) => void,
  prepare?: (socket: number) => void,
): number | string {
  let socket = -1;
  try {
    socket = native.socket(family === 'IPv6' ? 6 : 4);
    native.bind(socket, family === 'IPv6' ? '::' : '0.0.0.0', port);
    prepare?.(socket);
    native.listen(socket);
  } catch (error) {
    close(socket);
    return codeOf(error);
  }
  watch(socket, pollEvent.in, () => {
    try {
      act(native.accept(socket));
    } catch {
      // the other end may be closed already
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
