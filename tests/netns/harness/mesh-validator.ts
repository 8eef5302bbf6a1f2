import { randomBytes } from 'node:crypto';
import { createConnection, createServer } from 'node:net';
import { parseArgs } from 'node:util';

/** Stands in for linkerd's own validator: tries once to get its token back, and exits with 95 if that fails. */
const { values } = parseArgs({
  options: {
    'connect-addr': { type: 'string', default: '' },
    'listen-addr': { type: 'string', default: '' },
    timeout: { type: 'string', default: '10s' },
  },
});
const split = (address: string): { host: string; port: number } => {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
};
const end = (code: number, text: string): void => {
  process.stderr.write(`${text}\n`, () => process.exit(code));
};

const token = randomBytes(32).toString('hex');
setTimeout(() => end(95, 'Failed to validate networking configuration'), parseInt(values.timeout, 10) * 1000);
createServer((socket) => socket.end(token)).listen(split(values['listen-addr']), () => {
  const socket = createConnection(split(values['connect-addr']));
  socket.on('error', (error) => end(95, error.message));
  socket.on('data', (data) => end(data.toString() === token ? 0 : 95, 'got an answer'));
});
