import { createServer } from 'node:http';

/** Another service of the cluster, outside of every pod: tells who asks that it was reached. */
export async function startElsewhere(): Promise<{ url: string; close: () => void }> {
  const host = '10.254.2.1';
  const server = createServer((_, response) => response.end('elsewhere'));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(80, host, resolve);
  await promise;
  return { url: `http://${host}/`, close: () => server.close() };
}
