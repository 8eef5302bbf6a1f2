import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { foreign, podInfoVolume, validatorContainer } from '../../webhook/lib/names.ts';
import { reviewOf } from '../support/reviews.ts';
import { Answers, underAttack } from './harness/attack.ts';
import { hammer, send } from './harness/connections.ts';
import { agentOn, agentsPath } from './harness/fake-cluster.ts';

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

const containers = [{ name: 'app', image: 'example/app' }];
const pod = (spec: object, metadata: object = {}, namespace = 'shop'): string =>
  JSON.stringify(
    reviewOf(
      { metadata: { name: 'a', namespace, ...metadata }, spec: { containers, ...spec } },
      { namespace },
    ),
  );

const withRequest = (cpu: string): string =>
  pod({ containers: [{ ...containers[0], resources: { requests: { cpu }, limits: { cpu } } }] });

const ours = { name: validatorContainer, image: 'x', env: [{ name: 'CNI_GATE_CHECKS', value: '[]' }] };
const networks = (text: string): string => pod({}, { annotations: { [foreign.networks]: text } }, 'nets');

const manyKeys = `{${many(15_000, (index) => `"k${index}":{}`).join()}}`;

const hostile = {
  'a quantity of 150,000 digits that is none': withRequest(`${'1'.repeat(150_000)}!`),
  'a quantity of 2,000,000 digits': withRequest('1'.repeat(2_000_000)),
  '10,000 volumes and 10,000 mounts': pod({
    initContainers: [ours],
    volumes: many(10_000, () => ({ name: podInfoVolume, downwardAPI: {} })),
    containers: [
      { ...containers[0], volumeMounts: many(10_000, () => ({ name: 'other', mountPath: '/a' })) },
    ],
  }),
  'cni-args of 20,000 levels': networks(`[{"name":"storage","cni-args":${nested(20_000)}}]`),
  'cni-args of 15,000 keys': networks(`[{"name":"storage","cni-args":${manyKeys}}]`),
  'a list of 900,000 networks': networks(many(900_000, (index) => `n${index}`).join()),
  'a profile label of 700 KB': pod({}, { labels: { 'cni-gate.io/profile': 'cilium.'.repeat(100_000) } }),
};

test('pods with texts that are costly to read', async (t) => {
  const bodies = Object.values(hostile);
  const answers = new Answers();
  await underAttack(t, async ({ server, signal }) => {
    await hammer(bodies.length, signal, async (index) => {
      const answer = await send(server, '/mutate', bodies[index] ?? '', signal);
      if (!signal.aborted) answers.add(answer);
    });
  });
  answers.onlyOf(t, [0, 200, 400, 413, 429]);
  assert.ok(answers.count(200) > 0);
});

test('a kubelet whose reasons are escape sequences, or 700 KB long', async (t) => {
  const reasons = [
    '\u001b]'.repeat(100_000),
    'x'.repeat(700_000),
    '\u001b]0;a'.repeat(50_000),
    '\u202e'.repeat(100_000),
  ];
  await underAttack(t, async ({ cluster, signal }) => {
    for (let round = 0; !signal.aborted; round++) {
      const version = { resourceVersion: `${100 + round}` };
      const agent = agentOn('n1', reasons[round % reasons.length]) as { metadata: object };
      await cluster.send(agentsPath, 'MODIFIED', { ...agent, metadata: { ...agent.metadata, ...version } });
      await sleep(100);
    }
  });
});
