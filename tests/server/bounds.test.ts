/** Ordinary load, which no limit stops. Floods are in tests/attack. */
import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MiB, mostMemory, pod } from '../support/attacked-server.ts';
import { recorded } from '../support/reviews.ts';
import { startSmallServer } from '../support/small-server.ts';

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
