import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { selfMadeCertificate } from '../../certs/files.ts';
import { openLog } from '../../webhook/server/log.ts';
import { type RunningServer, type ServeOptions, serve } from '../../webhook/server/serve.ts';
import { type Answer, exchange } from './exchange.ts';

export type Line = Record<string, unknown>;

export interface TestServer extends RunningServer {
  lines: Line[];
  /** Resolves with the next line of the log for which `isIt` returns true. */
  logged(isIt: (line: Line) => boolean): Promise<Line>;
  /** Sends a body as the API server does: over HTTP/1.1 and TLS, with keep-alive, and verifies the certificate. */
  post(path: string, body: string | Buffer, options?: RequestOptions): Promise<Answer>;
  ops(path: string): Promise<Answer>;
  agent: Agent;
}

/** Starts the real server on loopback ports that the system chooses. The server is drained when the test ends. */
export async function startServer(t: TestContext, options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const lines: Line[] = [];
  const waiting = new Set<(line: Line) => void>();
  const write = (text: string): void => {
    const line: Line = JSON.parse(text);
    lines.push(line);
    for (const poll of waiting) poll(line);
  };
  const log = openLog('debug', { write });
  const server = await serve({
    log,
    profile: 'cilium',
    host: '127.0.0.1',
    port: 0,
    opsPort: 0,
    drainDelay: 0,
    drainTimeout: 2000,
    interval: 20,
    metricsAge: 0,
    certificate: async () => selfMadeCertificate(['localhost', '127.0.0.1'], 1),
    ...options,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  let drained: Promise<void> | undefined;
  const drain = (): Promise<void> => {
    drained ??= server.drain();
    return drained;
  };
  t.after(async () => {
    agent.destroy();
    await drain();
  });
  const { authority } = server.certificate;
  return {
    ...server,
    drain,
    lines,
    logged: (isIt) =>
      new Promise((resolve) => {
        const poll = (line: Line): void => {
          if (!isIt(line)) return;
          waiting.delete(poll);
          resolve(line);
        };
        waiting.add(poll);
      }),
    agent,
    post: (path, body, more = {}) =>
      exchange(
        httpsRequest({
          agent,
          host: '127.0.0.1',
          port: server.port,
          path,
          method: 'POST',
          ...(authority !== undefined && { ca: authority }),
          servername: 'localhost',
          ...more,
          headers: { 'content-type': 'application/json', ...more.headers },
        }),
        body,
      ),
    ops: (path) => exchange(httpRequest({ host: '127.0.0.1', port: server.opsPort, path, agent: false }), ''),
  };
}

/** Opens a TLS connection to a server, without sending a request. */
export async function open(t: TestContext, { port, certificate }: TestServer): Promise<TLSSocket> {
  const { authority: ca } = certificate;
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket.on('error', () => {});
}
