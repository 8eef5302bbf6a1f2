import type { Server } from 'node:net';
import { net } from './builtins.ts';
import { type Address, type Family, parseSocketAddress } from './shared/addresses.ts';

/** A server that sends a token to everyone who connects. */
export interface Listener {
  /** Whether it accepted a connection that came from one of these addresses and from this port. */
  accepted(from: Address[], port: number): boolean;
  close(): void;
}

/**
 * Listens on a port of one family, on all addresses of the pod, or returns the error's code.
 *
 * @param alone - whether the pod has no other family: then it listens without a host, and so for both. Node matches
 *   each host against a regular expression for IPv6, and compiling that takes a tenth of the whole run.
 */
export function listen(
  port: number,
  family: Family,
  token: Buffer,
  alone: boolean,
): Promise<Listener | string> {
  const ends = new Set<string>();
  return new Promise((resolve) => {
    const server: Server = net().createServer((socket) => {
      ends.add(`${parseSocketAddress(socket.remoteAddress)?.hex} ${socket.remotePort}`);
      socket.on('error', () => {}); // the other end may be closed already
      socket.end(token);
    });
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    const own = { host: family === 'IPv6' ? '::' : '0.0.0.0', ipv6Only: family === 'IPv6' };
    server.listen({ port, ...(!alone && own) }, () =>
      resolve({
        accepted: (from, fromPort) => from.some(({ hex }) => ends.has(`${hex} ${fromPort}`)),
        close: () => server.close(),
      }),
    );
  });
}
