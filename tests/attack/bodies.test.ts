import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recorded } from '../support/reviews.ts';
import { Answers, underAttack } from './harness/attack.ts';
import { hammer, send } from './harness/connections.ts';

const MiB = 1024 * 1024;

for (const [count, size] of [
  [2, 7 * MiB],
  [6, 3 * MiB],
  [20, 1.5 * MiB],
  [100, 0.09 * MiB],
] as const) {
  test(`${count} × ${size / MiB} MiB of empty objects, repeatedly`, async (t) => {
    const body = Buffer.from(`[${'{},'.repeat(size / 3 - 1)}{}]`);
    const answers = new Answers();
    await underAttack(t, async ({ server, signal }) => {
      await hammer(count, signal, async (index) => {
        const answer = await send(server, index % 2 === 0 ? '/gate' : '/mutate', body, signal);
        if (!signal.aborted) answers.add(answer);
      });
    });
    // status 0 means that the server closed the connection while the client was still sending
    answers.onlyOf(t, [0, 400, 413, 429]);
  });
}

function podWith(list: Record<string, unknown[]>): Buffer {
  const review = recorded('pod-deployment-web');
  Object.assign(review.request.object.spec, list);
  return Buffer.from(JSON.stringify(review));
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Pods as large as the server's cost limit allows. Each has many items of one kind that admission reads. */
const inShop = [
  podWith({ tolerations: many(19_000, (i) => ({ key: `example.com/k${i}`, operator: 'Exists' })) }),
  podWith({ volumes: many(19_000, (i) => ({ name: `v${i}`, emptyDir: {} })) }),
  podWith({ hostAliases: many(16_000, (i) => ({ ip: '10.0.0.1', hostnames: [`h${i}`] })) }),
  podWith({ containers: many(33_000, () => ({ name: 'c' })) }),
  podWith({ containers: [{ name: 'c', env: many(19_000, (i) => ({ name: `V${i}`, value: 'x' })) }] }),
];

/** {@link inShop}, also in an unknown namespace: cni-gate requests the namespace, then rereads the body. */
const large = [...inShop, ...inShop.map((body) => Buffer.from(String(body).replaceAll('"shop"', '"none"')))];

test('large pods with many containers, volumes, tolerations or variables, repeatedly', async (t) => {
  const answers = new Answers();
  await underAttack(t, async ({ server, signal }) => {
    await hammer(8, signal, async (index, round) => {
      const answer = await send(server, '/mutate', large[(index + round) % large.length] ?? '', signal);
      if (!signal.aborted) answers.add(answer);
    });
  });
  answers.onlyOf(t, [0, 200, 413, 429]);
  assert.ok(answers.count(200) > 0);
});
