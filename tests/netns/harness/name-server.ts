import { createSocket } from 'node:dgram';
import type { Naming } from './listeners.ts';

/** Answers questions for IPv4 addresses with one address, and others with a code. */
const { host, address, codeForOthers = 0 }: Naming = JSON.parse(process.argv[2] ?? '');

/** RFC 1035: a header of 12 bytes, the name, its type and class; a name in an answer may point back to the question. */
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
