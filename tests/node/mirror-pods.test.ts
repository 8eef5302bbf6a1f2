import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { foreign } from '../../webhook/lib/names.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { pod } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { forNodes } from './harness/network.ts';
import { RealNode } from './harness/node.ts';
import { sandboxImage, standIn } from './images/images.ts';

interface Pod {
  metadata: { name: string };
  status: { phase: string };
}

const [ordinary, forged] = ['ordinary', 'forged'].map((name) =>
  standIn(`localhost/${name}:test`, 'pause.ts'),
);
assert.ok(ordinary && forged);

const cluster = await Cluster.start(forNodes);
after(() => cluster.stop());
const { api } = cluster;
const node = await RealNode.start(cluster, 'node-1', [sandboxImage(), ordinary, forged]);
after(() => node.powerCut());
await makeNamespace(cluster, 'bare');

const pods = '/api/v1/namespaces/bare/pods';
const placed = (name: string, image: string, annotations = {}): object =>
  pod(
    name,
    { nodeName: node.name, terminationGracePeriodSeconds: 0, containers: [{ name: 'web', image }] },
    { annotations },
  );

test('the kubelet deletes a mirror pod without a static pod, and never runs it', async () => {
  // cni-gate exempts mirror pods for this reason: docs/decisions/final-pod-policy.md#forged-exemptions
  await api.post(pods, placed('forged', forged.name, { [foreign.mirrorPod]: 'hash' }));
  await api.post(pods, placed('ordinary', ordinary.name));
  await api.until<Pod>(
    `${pods}?fieldSelector=metadata.name%3Dordinary`,
    ({ status }) => status.phase === 'Running',
  );
  await eventually(() => assert.rejects(api.get(`${pods}/forged`), /"forged" not found/));
  const started = node.starts().map(({ image }) => image);
  assert.deepEqual(
    [started.includes(ordinary.name), started.includes(forged.name)],
    [true, false],
    `started: ${started}`,
  );
});
