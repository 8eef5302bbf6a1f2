import { createSocket } from 'node:dgram';
import type { Talk } from './listeners.ts';

/** Sends datagrams as its argument says. It ends with its standard input. */
const { hosts, bytes, every }: Talk = JSON.parse(process.argv[2] ?? '');

const payload = Buffer.alloc(bytes);
for (const host of hosts) {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4').on('error', () => {});
  setInterval(() => socket.send(payload, 9, host), every);
}
process.stdout.write('talking\n');
process.stdin.on('end', () => process.exit()).resume();
