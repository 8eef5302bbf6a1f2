import type { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { http } from '../lib/node-http.ts';
import type { Connection } from './access.ts';

/** Below the 90 s after which Go's server closes an idle connection, so that the client closes it first. */
const idleTimeout = 60_000;

/** The pool of connections, which is replaced when certificates or authorities change. */
export class Agents {
  #agent: HttpAgent | undefined;
  #madeOf = '';

  for(connection: Connection): HttpAgent {
    if (connection.agent !== undefined) return connection.agent;
    const secure = connection.server.startsWith('https:');
    const madeOf = JSON.stringify([secure, connection.tls]);
    if (this.#agent === undefined || madeOf !== this.#madeOf) {
      this.dropIdle();
      this.#agent = secure
        ? new HttpsAgent({ ...connection.tls, keepAlive: true, timeout: idleTimeout })
        : new http.Agent({ keepAlive: true, timeout: idleTimeout });
      this.#madeOf = madeOf;
    }
    return this.#agent;
  }

  /** Closes the connections that are idle. */
  dropIdle(): void {
    for (const sockets of Object.values(this.#agent?.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  close(): void {
    this.#agent?.destroy();
  }
}
