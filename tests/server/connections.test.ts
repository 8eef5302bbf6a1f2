/** Limits of connections. tests/attack floods the server with connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { binding, during, head, open, sum } from '../support/attacked-server.ts';
import { startSmallServer } from '../support/small-server.ts';

// the first test only waits, for 20 s, so the others run beside it, one after another
suite('connections', { concurrency: 2 }, () => {
  test('a connection that has begun a request and not sent it in time is closed; one that is silent or has had an answer stays', async (t) => {
    const server = await startSmallServer(t);
    // like a connection that the API server opens for a call, and keeps unused because another one became free
    const silent = await open(t, server);
    const begins = await open(t, server);
    begins.write('POST /gate HTTP/1.1\r\n');
    const slow = await open(t, server);
    slow.write(head('/gate', 10));
    const slowClosed = once(slow.resume(), 'close').then(() => performance.now());
    const good = await open(t, server);
    let answer = '';
    good.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    good.write(head('/gate', Buffer.byteLength(binding)) + binding);
    const begun = performance.now();
    await once(begins.resume(), 'close');
    const begunFor = performance.now() - begun;
    assert.ok(begunFor > 8_000 && begunFor < 13_000, `${begunFor} ms`);
    assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.equal(good.destroyed, false);
    good.write(head('/gate', Buffer.byteLength(binding)) + binding);
    await once(good, 'data');
    assert.equal(answer.match(/HTTP\/1\.1 200 /g)?.length, 2);
    assert.equal(silent.destroyed, false);
    silent.write('POST /gate HTTP/1.1\r\n');
    await sleep(100);
    silent.write(head('/gate', Buffer.byteLength(binding)).replace(/^.*\r\n/, '') + binding);
    assert.match(String(await once(silent, 'data')), /^HTTP\/1\.1 200 /);
    silent.write('POST /gate HTTP/1.1\r\n');
    await once(silent.resume(), 'close');
    assert.ok((await slowClosed) - begun < 18_000);
  });

  test('requests that do not wait for answers end their connection', async (t) => {
    const server = await startSmallServer(t);
    const socket = await open(t, server);
    const request = head('/gate', Buffer.byteLength(binding)) + binding;
    let answers = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answers += chunk;
    });
    // the socket may end with an error, because the server closes it before it has read all bytes
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(request.repeat(50));
    await closed;
    assert.ok((answers.match(/HTTP\/1\.1 200 /g) ?? []).length <= 2, answers);
    assert.equal(sum(await server.metrics(), 'cni_gate_overload_total', 'pipelined'), 1);
  });

  for (const [what, request] of [
    ['requests with an unknown Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n'],
    ['requests without a Host', 'GET / HTTP/1.1\r\n\r\n'],
  ] as const) {
    test(`thousands of ${what} in one piece end their connection, and others are answered`, async (t) => {
      const { server, metrics } = await during(t, async (attacked) => {
        assert.match(await answerTo(await open(t, attacked), request), /^HTTP\/1.1 404 /);
        // few sockets, opened one after another, because a busy server would close a handshake that takes 5 s
        const sockets: Socket[] = [];
        while (sockets.length < 8) sockets.push(await open(t, attacked));
        const closed = sockets.map(
          (socket) => new Promise((resolve) => socket.resume().once('close', resolve)),
        );
        for (const socket of sockets) socket.write(request.repeat((64 * 1024) / request.length));
        await Promise.all(closed);
      });
      assert.ok(server.alive());
      assert.equal(sum(metrics, 'cni_gate_overload_total', 'pipelined'), 8);
    });
  }
});

/** The beginning of the answer to a request. */
async function answerTo(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString();
}
