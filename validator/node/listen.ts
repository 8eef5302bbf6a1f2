import type { Server } from 'node:net';
import type { ListenOptions } from '../platform.ts';
import { net } from './builtins.ts';

/** `listen` of the platform. */
export function listen(options: ListenOptions): Promise<{ close(): void } | string> {
  const { port, host, ipv6Only = false, greeting, accepted } = options;
  return new Promise((resolve) => {
    const server: Server = net().createServer((socket) => {
      accepted(socket.remoteAddress, socket.remotePort);
      socket.on('error', () => {}); // the other end may be closed already
      socket.end(greeting);
    });
    server.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, ...(host !== undefined && { host, ipv6Only }) }, () =>
      resolve({ close: () => server.close() }),
    );
  });
}
