/** Limits for connections, and ordinary load, which the limits must allow. tests/attack floods the server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientHello } from '../support/client-hello.ts';
import { head } from '../support/exchange.ts';
import { recorded } from '../support/reviews.ts';
import { open, startServer, type TestServer } from '../support/running-server.ts';

const binding = JSON.stringify(recorded('binding-deployment-web'));
const pod = JSON.stringify(recorded('pod-deployment-web'));

// the first test only waits for 20 s, so the others run at the same time, one after another
suite('connections', { concurrency: 2 }, () => {
  test('a connection that does not send the rest of its request in time is closed; a silent or answered one stays open', async (t) => {
    const server = await startServer(t);
    // the API server can open a connection for a call and then not use it, because another connection became free
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

  for (const [what, request, status] of [
    ['calls', head('/gate', Buffer.byteLength(binding)) + binding, 200],
    ['requests with an unknown Expect', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n', 404],
    ['requests without a Host', 'GET / HTTP/1.1\r\n\r\n', 404],
  ] as const) {
    test(`pipelined ${what} end their connection`, async (t) => {
      const server = await startServer(t);
      const socket = await open(t, server);
      let answers = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        answers += chunk;
      });
      socket.write(request);
      await once(socket, 'data');
      assert.match(answers, new RegExp(`^HTTP/1\\.1 ${status} `));
      // the socket may end with an error, because the server closes it before it has read all bytes
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write(request.repeat((64 * 1024) / request.length));
      await closed;
      assert.ok((answers.match(/HTTP\/1\.1 /g) ?? []).length <= 3, answers);
      const { body } = await server.ops('/metrics');
      assert.match(body, /^cni_gate_overload_total\{limit="pipelined"\} 1$/m);
    });
  }

  test('a connection without a complete handshake is closed 5 seconds after it was opened', async (t) => {
    const server = await startServer(t);
    const hello = await clientHello();
    const [silent, late] = [await tcp(t, server), await tcp(t, server)];
    const begun = performance.now();
    setTimeout(() => late.write(hello), 3000);
    await Promise.all([silent, late].map((socket) => once(socket.resume(), 'close')));
    const took = performance.now() - begun;
    assert.ok(took > 4_000 && took < 7_000, `${took} ms`);
  });

  test('a ClientHello in single bytes is a handshake like any other', async (t) => {
    const server = await startServer(t);
    const hello = await clientHello();
    const socket = (await tcp(t, server)).setNoDelay();
    for (let index = 0; index < 20; index++) {
      socket.write(hello.subarray(index, index + 1));
      await sleep(2);
    }
    socket.write(hello.subarray(20));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // the answer is a TLS handshake record (22) with a ServerHello (2)
    assert.deepEqual([answer[0], answer[5]], [22, 2]);
    socket.destroy();
  });

  test('hundreds of calls at a time, and large reviews of real pods, are answered', async (t) => {
    const server = await startServer(t);
    const agent = new Agent({ keepAlive: true, maxSockets: 200 });
    t.after(() => agent.destroy());
    const review = recorded('pod-deployment-web');
    const toleration = { key: 'example.com/dedicated', operator: 'Equal', value: 'x', effect: 'NoSchedule' };
    review.request.object.spec.tolerations = Array(10_000).fill(toleration);
    // only four large bodies: they must arrive within two seconds, and the client and the server share a process
    const bodies = [...Array(4).fill(JSON.stringify(review)), ...Array(400).fill(pod)];
    const answers = await Promise.all(bodies.map((body) => server.post('/mutate', body, { agent })));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.doesNotMatch((await server.ops('/metrics')).body, /^cni_gate_overload_total\{/m);
  });
});

/** A TCP connection without a TLS handshake, which is closed when the test ends. */
async function tcp(t: TestContext, { port }: TestServer): Promise<Socket> {
  const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}
