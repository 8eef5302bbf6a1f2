/** Attacks on a server with the memory of its container, and ordinary calls meanwhile. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { inChangingOrder, withEscapedKeys } from '../support/costly-json.ts';
import { recorded } from '../support/reviews.ts';
import { type SmallServer, startSmallServer } from '../support/small-server.ts';

const MiB = 1024 * 1024;
/** 80 % of the container. */
const mostMemory = 410;

const pod = JSON.stringify(recorded('pod-deployment-web'));
const binding = JSON.stringify(recorded('binding-deployment-web'));

/** Ordinary calls, one after another, until told to stop. Fails if one of them is not answered with 200. */
function ordinaryCalls(server: SmallServer): () => Promise<number> {
  let stopped = false;
  const calls = (async () => {
    let answered = 0;
    while (!stopped) {
      for (const [path, body] of [
        ['/mutate', pod],
        ['/gate', binding],
      ] as const) {
        const { status, body: answer } = await server.call(path, body);
        assert.equal(status, 200, answer);
        answered++;
      }
      await sleep(10);
    }
    return answered;
  })();
  return () => {
    stopped = true;
    return calls;
  };
}

async function during(
  t: TestContext,
  attack: (server: SmallServer) => Promise<void>,
): Promise<{ server: SmallServer; metrics: string }> {
  const server = await startSmallServer(t);
  const stop = ordinaryCalls(server);
  await attack(server);
  // those who were told to wait are gone by then
  await sleep(200);
  const answered = await stop();
  assert.ok(answered >= 2, `${answered} ordinary calls`);
  assert.ok(server.alive(), 'the server runs');
  assert.ok(server.peak() < mostMemory, `${server.peak()} MiB at the most`);
  const metrics = await server.metrics();
  const blocked = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1];
  t.diagnostic(`${server.peak().toFixed(0)} MiB, event loop blocked for ${blocked} s, ${answered} calls`);
  return { server, metrics };
}

const sum = (metrics: string, name: string, label: string): number =>
  Number(new RegExp(`^${name}\\{[^}]*${label}[^}]*\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);

/** A list of empty objects of this many bytes. */
const emptyObjects = (bytes: number): string => `[${'{},'.repeat(Math.floor(bytes / 3) - 1)}{}]`;

for (const [path, size, count] of [
  ['/mutate', 7 * MiB, 4],
  ['/gate', 3 * MiB, 12],
  ['/gate', 0.2 * MiB, 40],
] as const) {
  test(`${count} bodies of ${size / MiB} MiB of empty objects on ${path}`, async (t) => {
    await during(t, async (server) => {
      const answers = await Promise.all(
        Array.from({ length: count }, () => server.call(path, emptyObjects(size))),
      );
      for (const { status } of answers) assert.ok([400, 413, 429].includes(status), `${status}`);
    });
  });
}

test('large reviews of real pods are answered', async (t) => {
  const server = await startSmallServer(t);
  const review = recorded('pod-deployment-web');
  const toleration = { key: 'example.com/dedicated', operator: 'Equal', value: 'shop', effect: 'NoSchedule' };
  review.request.object.spec.tolerations = Array(30_000).fill(toleration);
  const body = JSON.stringify(review);
  assert.ok(body.length > 2.5 * MiB);
  const answers = await Promise.all(Array.from({ length: 6 }, () => server.call('/mutate', body)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(6).fill(200),
  );
  assert.ok(server.peak() < mostMemory, `${server.peak()} MiB at the most`);
});

/** Opens a TLS connection that goes away with the test. */
async function open(t: TestContext, server: SmallServer): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.port, servername: 'localhost', ca: server.ca });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
  return socket;
}

const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

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
    // 1,024 is the bound; some of these never begin their handshake
    for (let round = 0; round < 12; round++) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          if (index % 4 > 0) {
            const socket = connectTcp(server.port, '127.0.0.1').on('error', () => {});
            t.after(() => socket.destroy());
            await once(socket, 'connect');
          } else await open(t, server);
        }),
      );
    }
  });
  assert.ok(sum(metrics, 'cni_gate_overload_total', '"connections"') >= 100);
});

test('a connection that has not sent a request in time is closed; one that has had an answer stays', async (t) => {
  const server = await startSmallServer(t);
  const idle = await open(t, server);
  const slow = await open(t, server);
  slow.write(head('/gate', 10));
  const good = await open(t, server);
  let answer = '';
  good.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  good.write(head('/gate', Buffer.byteLength(binding)) + binding);
  const begun = performance.now();
  await once(idle.resume(), 'close');
  const idleFor = performance.now() - begun;
  assert.ok(idleFor > 8_000 && idleFor < 13_000, `${idleFor} ms`);
  await once(slow.resume(), 'close');
  assert.ok(performance.now() - begun < 18_000);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.equal(good.destroyed, false);
  good.write(head('/gate', Buffer.byteLength(binding)) + binding);
  await once(good, 'data');
  assert.equal(answer.match(/HTTP\/1\.1 200 /g)?.length, 2);
});

test('requests that do not wait for answers end their connection', async (t) => {
  const server = await startSmallServer(t);
  const socket = await open(t, server);
  const request = head('/gate', Buffer.byteLength(binding)) + binding;
  let answers = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answers += chunk;
  });
  const closed = once(socket, 'close');
  socket.write(request.repeat(50));
  await closed;
  assert.ok((answers.match(/HTTP\/1\.1 200 /g) ?? []).length <= 2, answers);
  assert.equal(sum(await server.metrics(), 'cni_gate_overload_total', 'pipelined'), 1);
});

test('bodies that take long to parse for their size are refused before they are parsed', async (t) => {
  await during(t, async (server) => {
    for (const body of [withEscapedKeys(4000), inChangingOrder(10_000)]) {
      const { status, body: answer } = await server.call('/mutate', body);
      assert.equal(status, 413);
      assert.match(answer, /at most 16384 shapes of objects/);
    }
  });
});

test('a thousand calls at a time are answered: no limit bites ordinary load', async (t) => {
  const server = await startSmallServer(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  t.after(() => agent.destroy());
  const answers = await Promise.all(Array.from({ length: 1000 }, () => server.call('/mutate', pod, agent)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.doesNotMatch(await server.metrics(), /^cni_gate_overload_total\{/m);
});

test('probes are answered while others hold many connections to their port, and scrape without end', async (t) => {
  const server = await startSmallServer(t);
  const request = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
  for (let count = 0; count < 100; count++) {
    const socket = connectTcp(server.opsPort, '127.0.0.1').on('error', () => {});
    t.after(() => socket.destroy());
    // half of them ask for metrics and never read them
    if (count % 2 === 0) socket.pause().write(request.repeat(50));
    else socket.on('data', () => socket.write(request)).write(request);
  }
  await sleep(500);
  const took: number[] = [];
  for (let count = 0; count < 20; count++) {
    const metrics = await server.metrics();
    assert.match(metrics, /cni_gate_build_info/);
    const begun = performance.now();
    const { status } = await server.call('/mutate', pod);
    assert.equal(status, 200);
    took.push(performance.now() - begun);
  }
  const median = took.toSorted((one, other) => one - other)[10] ?? Number.NaN;
  assert.ok(median < 1000, `${median} ms`);
  assert.ok(server.peak() < mostMemory, `${server.peak()} MiB at the most`);
});
