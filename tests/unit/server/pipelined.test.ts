import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { Connections } from '../../../webhook/server/connections.ts';

for (const [what, request] of [
  ['ordinary', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['with an Expect that nobody knows', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n'],
]) {
  test(`of 1,000 requests in one piece, ${what}, Node parses one more than ends the connection`, async (t) => {
    let parsed = 0;
    class Counted extends IncomingMessage {
      constructor(...[socket]: ConstructorParameters<typeof IncomingMessage>) {
        super(socket);
        parsed++;
      }
    }
    const server = createServer({ IncomingMessage: Counted });
    // nothing is answered
    server.on('request', () => {});
    const closed: string[] = [];
    const connections = new Connections(10, 1000, (limit) => closed.push(limit));
    connections.bound(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
    socket.write(`${request}`.repeat(1000));
    await once(socket.resume(), 'close');
    assert.deepEqual(closed, ['pipelined']);
    // two wait for their answers, the third is too much, the fourth stops the parser
    assert.ok(parsed <= 4, `${parsed} requests`);
  });
}
