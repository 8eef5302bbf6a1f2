import { createServer } from 'node:http';

/** Starts a server outside of all pods. Its answer shows the caller that the connection bypassed the proxy. */
export async function startElsewhere(): Promise<{ url: string; close: () => void }> {
  const host = '10.254.2.1';
  const server = createServer((_, response) => response.end('elsewhere'));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(80, host, resolve);
  await promise;
  return { url: `http://${host}/`, close: () => server.close() };
}
