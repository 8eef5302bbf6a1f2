import { createSocket } from 'node:dgram';
import type { Naming } from './listeners.ts';

/** Answers queries for IPv4 addresses with one address, and all other queries with a response code. */
const { host, address, codeForOthers = 0 }: Naming = JSON.parse(process.argv[2] ?? '');

/** Length of the header before the question's name, type and class. An answer may point to that name: RFC 1035. */
const header = 12;
const typeA = 1;

const server = createSocket('udp4');
server.on('message', (question, { port, address: from }) => {
  const endOfName = question.indexOf(0, header) + 1;
  const asked = question.subarray(0, endOfName + 4);
  const found = question.readUInt16BE(endOfName) === typeA;
  const answer = Buffer.from(
    [0xc0, header, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4].concat(address.split('.').map(Number)),
  );
  const reply = Buffer.concat([asked, ...(found ? [answer] : [])]);
  reply.writeUInt16BE(0x8180 + (found ? 0 : codeForOthers), 2);
  reply.writeUInt16BE(found ? 1 : 0, 6);
  reply.writeUInt32BE(0, 8);
  server.send(reply, port, from);
});
server.bind(53, host, () => process.stdout.write('listening\n'));
process.stdin.on('end', () => process.exit()).resume();
