import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type Access, ApiClient } from '../../webhook/cluster/client.ts';

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  body: string;
  /** How many requests, for any path, arrived before this one. */
  index: number;
}

export interface FakeApiServer {
  url: string;
  client: ApiClient;
  asked: Asked[];
  open: Set<ServerResponse>;
  /** Closes all connections, as if the API server's process had ended. */
  closeConnections(): void;
  /** Resolves with the request of this index as soon as the request has arrived. */
  nth(index: number): Promise<Asked>;
}

export const status = (code: number, reason: string, message: string, more: object = {}): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message,
  reason,
  code,
  ...more,
});

export function json(response: ServerResponse, code: number, value: unknown, headers = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/** Starts a fake API server, for faults that a real one cannot produce. @param access how the client connects to it */
export async function startFakeApi(
  t: TestContext,
  answer: (asked: Asked, response: ServerResponse) => void,
  access?: (url: string) => Access,
): Promise<FakeApiServer> {
  const asked: Asked[] = [];
  const open = new Set<ServerResponse>();
  const waiting = new Map<number, (asked: Asked) => void>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake');
    const one: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: await text(request),
      index: asked.length,
    };
    asked.push(one);
    open.add(response);
    response.on('close', () => open.delete(response));
    waiting.get(one.index)?.(one);
    answer(one, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plain: Access = {
    source: 'the test',
    connection: async () => ({ server: url, headers: {}, tls: {} }),
    refresh: () => {},
  };
  const client = new ApiClient(access?.(url) ?? plain);
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    client,
    asked,
    open,
    closeConnections: () => server.closeAllConnections(),
    nth: (index) => {
      const known = asked[index];
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => waiting.set(index, resolve));
    },
  };
}
