/** Bounds on connections, beside ordinary calls. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { binding, during, emptyObjects, head, MiB, open, sum } from '../support/attacked-server.ts';
import { startSmallServer } from '../support/small-server.ts';

// the first one only waits, for 15 s: the others run beside it, one after another
suite('connections', { concurrency: 2 }, () => {
  test('a connection that has begun a request and not sent it in time is closed; one that is silent or has had an answer stays', async (t) => {
    const server = await startSmallServer(t);
    // as the API server dials for a call, and keeps the connection because another one is free first
    const silent = await open(t, server);
    const begins = await open(t, server);
    begins.write('POST /gate HTTP/1.1\r\n');
    const slow = await open(t, server);
    slow.write(head('/gate', 10));
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
    await once(slow.resume(), 'close');
    assert.ok(performance.now() - begun < 18_000);
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
  });

  test('connections that hold back the last byte of a large body lose their room', async (t) => {
    const size = 3 * MiB;
    const max = Buffer.alloc(size - 1, ' ');
    const { metrics } = await during(t, async (server) => {
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          const socket = await open(t, server);
          socket.write(head('/gate', size));
          socket.write(max);
        }),
      );
      await sleep(2500);
      // a large one gets room as well
      const { status } = await server.call('/gate', emptyObjects(1.2 * MiB));
      assert.ok([400, 413, 429].includes(status), `${status}`);
    });
    assert.ok(sum(metrics, 'cni_gate_overload_total', 'slow-body') >= 10, metrics.slice(-2000));
  });

  test('a body in single bytes takes no more memory than in one piece', async (t) => {
    await during(t, async (server) => {
      const socket = await open(t, server);
      socket.setMaxListeners(0);
      socket.write(
        'POST /gate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      const bytes = '1\r\n \r\n'.repeat(20_000);
      for (let sent = 0; sent < 40 && !socket.destroyed; sent++) {
        if (!socket.write(bytes))
          await Promise.race([once(socket, 'drain'), once(socket, 'close'), sleep(200)]);
      }
    });
  });

  test('idle connections beyond the bound are replaced, and do not keep callers out', async (t) => {
    const { metrics } = await during(t, async (server) => {
      // 1,024 is the bound; some of these never begin their handshake, and are closed after 5 s on a slow machine
      for (let round = 0; round < 60; round++) {
        await Promise.all(
          Array.from({ length: 100 }, async (_, index) => {
            if (index % 4 > 0) {
              const socket = connectTcp(server.port, '127.0.0.1').on('error', () => {});
              t.after(() => socket.destroy());
              await once(socket, 'connect');
            } else await open(t, server);
          }),
        );
        if (sum(await server.metrics(), 'cni_gate_overload_total', '"connections"') >= 100) return;
      }
    });
    assert.ok(sum(metrics, 'cni_gate_overload_total', '"connections"') >= 100);
  });

  test('requests that do not wait for answers end their connection', async (t) => {
    const server = await startSmallServer(t);
    const socket = await open(t, server);
    const request = head('/gate', Buffer.byteLength(binding)) + binding;
    let answers = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answers += chunk;
    });
    // with or without an error: the server closes while it has bytes that it has not read
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(request.repeat(50));
    await closed;
    assert.ok((answers.match(/HTTP\/1\.1 200 /g) ?? []).length <= 2, answers);
    assert.equal(sum(await server.metrics(), 'cni_gate_overload_total', 'pipelined'), 1);
  });

  for (const [what, request, status] of [
    ['ordinary requests', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['requests with an Expect that nobody knows', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n', 404],
    ['requests without a Host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ] as const) {
    test(`thousands of ${what} in one piece end their connection, and others are answered`, async (t) => {
      const { server, metrics } = await during(t, async (attacked) => {
        assert.match(await answerTo(await open(t, attacked), request), new RegExp(`^HTTP/1.1 ${status} `));
        const sockets = await Promise.all(Array.from({ length: 64 }, () => open(t, attacked)));
        const closed = sockets.map(
          (socket) => new Promise((resolve) => socket.resume().once('close', resolve)),
        );
        for (const socket of sockets) socket.write(request.repeat((64 * 1024) / request.length));
        await Promise.all(closed);
      });
      assert.ok(server.alive());
      assert.equal(sum(metrics, 'cni_gate_overload_total', 'pipelined'), 64);
    });
  }
});

/** The beginning of the answer to a request. */
async function answerTo(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString();
}
