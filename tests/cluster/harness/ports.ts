import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** The lowest port to choose. Linux takes ports for outgoing connections from a higher range only. */
const lowest = 20_000;
const range = 10_000;

/** Returns different ports of the loopback on which no program listens. */
export async function freePorts(count: number): Promise<number[]> {
  const taken: Server[] = [];
  for (let at = Math.floor(Math.random() * range); taken.length < count; at++) {
    const server = createServer();
    server.listen(lowest + (at % range), '127.0.0.1');
    // rejects if another process has the port
    await once(server, 'listening').then(
      () => taken.push(server),
      () => {},
    );
  }
  return Promise.all(
    taken.map(async (server) => {
      const address = server.address();
      await server[Symbol.asyncDispose]();
      return typeof address === 'object' && address !== null ? address.port : 0;
    }),
  );
}
