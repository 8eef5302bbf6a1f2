/** Ordinary load, which no limit may stop. The tests in tests/attack flood the server. */
import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';
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
