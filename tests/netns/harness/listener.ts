import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Listening } from './listeners.ts';

/** Listens as its argument says. Ends when its standard input ends, so that it does not outlive the test. */
const { host, tcp, udp, manner }: Listening = JSON.parse(process.argv[2] ?? '');

for (const port of tcp) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (manner === 'close') socket.end();
    if (manner === 'banner') socket.write(`220 port ${port}\r\n`);
    if (typeof manner === 'number') {
      const back = connect({ host: socket.remoteAddress, port: manner }).on('error', () => socket.destroy());
      socket.pipe(back).pipe(socket);
    } else if (manner === 'echo') socket.pipe(socket);
    else socket.resume();
  });
  await once(server.listen({ host, port }), 'listening');
}
for (const port of udp ?? []) {
  await once(createSocket(host.includes(':') ? 'udp6' : 'udp4').bind(port, host), 'listening');
}
process.stdout.write('listening\n');
process.stdin.on('end', () => process.exit()).resume();
