import type { Server } from 'node:net';
import { type Family, parseAddress } from './addresses.ts';
import { net } from './builtins.ts';

/** A server that sends a token to everyone who connects. */
export interface Listener {
  /** Whether it accepted a connection that came from there: an address and a port, see {@link endOf}. */
  accepted(from: string): boolean;
  close(): void;
}

/** One end of a connection, in a spelling that is the same at both ends. */
export function endOf(address = '', port = 0): string {
  // the interface behind % is where it was seen, and may be another one at the other end
  return `${parseAddress(address.split('%')[0] ?? '')?.hex} ${port}`;
}

/**
 * Listens on a port of one family, on all addresses of the pod, or tells the error's code.
 *
 * @param alone - whether the pod has no other family: then the port is listened on without a host, so for both. Node
 *   holds each host against a regular expression for IPv6, and to compile that takes a tenth of the whole run.
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
      ends.add(endOf(socket.remoteAddress, socket.remotePort));
      socket.on('error', () => {}); // the other end may be gone already
      socket.end(token);
    });
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    const own = { host: family === 'IPv6' ? '::' : '0.0.0.0', ipv6Only: family === 'IPv6' };
    server.listen({ port, ...(!alone && own) }, () =>
      resolve({ accepted: (from) => ends.has(from), close: () => server.close() }),
    );
  });
}
