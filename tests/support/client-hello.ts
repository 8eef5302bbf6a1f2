import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { connect } from 'node:tls';

/** The first bytes of a TLS connection to `localhost`. Tests may send them on any number of connections. */
export async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = connect({ host: '127.0.0.1', port, servername: 'localhost' }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  for (const end of [client, socket]) end.destroy();
  server.close();
  return hello;
}
