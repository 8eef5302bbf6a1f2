import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCode } from '../../validator/shared/contract.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { pod, workload } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { configure } from './harness/configure.ts';
import { History } from './harness/history.ts';
import { meshedNode } from './harness/installed.ts';

/** `gate.maxHold`, in seconds. */
const maxHold = 30;
/** Seconds on top of `maxHold`: the scheduler retries after at most 11 s, and a busy machine binds slowly. */
const slack = 20;
/** How many times other pods are created, how many seconds pass before each time, and how many are created then. */
const [rounds, quiet, others] = [4, 45, 10];

const { cluster, replicas, node, image } = await meshedNode();
const history = new History(cluster, node.name);
after(() => history.stop());

const spec = {
  nodeSelector: { 'kubernetes.io/hostname': node.name },
  terminationGracePeriodSeconds: 0,
  containers: [{ name: 'linkerd-proxy', image: image.name, securityContext: { runAsUser: 2102 } }],
};

/** A Deployment for whose pods the mesh's plugin writes no rules. */
const wrong = (name: string): object =>
  workload('Deployment', name, {
    namespace: 'wrong',
    replicas: 2,
    annotations: { 'example.com/no-rules': '' },
    spec,
  });

test('two Deployments that never pass hold other pods for at most gate.maxHold', async (t) => {
  await configure(cluster, replicas, {
    gate: { evidence: 'proof', maxHold: `${maxHold}s` },
    repair: { mode: 'recreate' },
  });
  for (const name of ['wrong', 'shop']) await makeNamespace(cluster, name, { [profileLabel]: 'linkerd' });
  await cluster.apply(wrong('one'), wrong('other'));
  for (const name of ['one-', 'other-']) {
    await history.until(({ pods }) =>
      pods.find((one) => one.name.startsWith(name) && one.proof?.exitCode === exitCode.failed),
    );
  }
  const made = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    await sleep(1000 * quiet);
    for (let count = 0; count < others; count++) {
      const name = `web-${round}-${count}`;
      made.set(name, Date.now());
      await cluster.api.post('/api/v1/namespaces/shop/pods', pod(name, spec));
    }
  }
  const held = await history.until(({ pods }) => {
    const bound = [...made].map(([name, at]) => {
      const first = pods.find((one) => one.namespace === 'shop' && one.name === name && one.node);
      return first && (first.seen - at) / 1000;
    });
    return bound.every((seconds) => seconds !== undefined) ? bound.toSorted((a, b) => a - b) : undefined;
  });
  const refused = new Set(
    history.pods.filter(({ namespace, refusal }) => namespace === 'shop' && refusal).map(({ uid }) => uid),
  );
  const tried = new Set(
    history.pods.filter((one) => one.namespace === 'wrong' && one.proof).map(({ uid }) => uid),
  );
  const at = (part: number): string => (held[Math.floor(part * (held.length - 1))] ?? 0).toFixed(1);
  t.diagnostic(
    `${made.size} pods of others: ${refused.size} were refused; bound after ${at(0.5)} s (median), ` +
      `${at(0.9)} s (90 %), ${at(1)} s (longest); ${tried.size} pods of the wrong Deployments failed meanwhile`,
  );
  assert.ok(Number(at(1)) <= maxHold + slack, `one was held for ${at(1)} s`);
  assert.ok(refused.size > 0, 'no pod was held: this shows nothing');
});
