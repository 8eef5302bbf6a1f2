import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster } from './harness/cluster.ts';
import { addNode } from './harness/nodes.ts';

const cluster = await Cluster.start({ nodeLifecycle: 5 });
after(() => cluster.stop());
const { api, components } = cluster;

interface Node {
  metadata: { name: string };
  spec: { taints?: { key: string }[] };
  status: { nodeInfo: { bootID: string }; conditions: { type: string; status: string }[] };
}
interface Pod {
  metadata: { name: string };
  status: { phase: string; podIP?: string; conditions?: { type: string; status: string }[] };
}

const nodeNamed = (name: string): string => `/api/v1/nodes?fieldSelector=metadata.name%3D${name}`;
const podNamed = (name: string): string =>
  `/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3D${name}`;
const ready = (conditions: Pod['status']['conditions']): string | undefined =>
  conditions?.find(({ type }) => type === 'Ready')?.status;
const tainted = ({ spec }: Node): boolean =>
  (spec.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/unreachable');

test('a node whose heartbeats stop is Unknown and tainted, its pods are not Ready; then all is well again', async () => {
  await addNode(cluster, 'quiet');
  await cluster.kubectl(['run', 'on-quiet', '--image=none', '--overrides', placedOn('quiet')]);
  await api.until<Pod>(podNamed('on-quiet'), ({ status }) => ready(status.conditions) === 'True');

  await components.kwok.stop();
  await api.until<Node>(
    nodeNamed('quiet'),
    (node) => ready(node.status.conditions) === 'Unknown' && tainted(node),
  );
  await api.until<Pod>(podNamed('on-quiet'), ({ status }) => ready(status.conditions) === 'False');

  await components.kwok.start();
  await api.until<Node>(
    nodeNamed('quiet'),
    (node) => ready(node.status.conditions) === 'True' && !tainted(node),
  );
});

test('a reboot is a new boot id, which stays', async () => {
  const node = await addNode(cluster, 'rebooted', { bootID: 'first' });
  await node.reboot('second');
  const { status } = await api.get<Node>('/api/v1/nodes/rebooted');
  assert.equal(status.nodeInfo.bootID, 'second');
  assert.equal(ready(status.conditions), 'True');
});

test("taints of a test's own stay", async () => {
  await addNode(cluster, 'tainted', { taints: [{ key: 'example.com/own', effect: 'NoSchedule' }] });
  const { spec } = await api.get<Node>('/api/v1/nodes/tainted');
  assert.deepEqual(spec.taints, [{ key: 'example.com/own', effect: 'NoSchedule' }]);
});

test('a pod that is held stays Pending, with a node, until it is let go', async () => {
  await addNode(cluster, 'patient');
  await cluster.kubectl([
    'run',
    'held',
    '--image=none',
    '--annotations=cni-gate.test/held=',
    '--overrides',
    placedOn('patient'),
  ]);
  await cluster.kubectl(['run', 'other', '--image=none', '--overrides', placedOn('patient')]);
  await api.until<Pod>(podNamed('other'), ({ status }) => status.phase === 'Running');
  const held = await api.get<Pod>('/api/v1/namespaces/default/pods/held');
  assert.equal(held.status.phase, 'Pending');
  await cluster.kubectl(['annotate', 'pod', 'held', 'cni-gate.test/held-']);
  await api.until<Pod>(podNamed('held'), ({ status }) => status.phase === 'Running');
});

test("a Job's pod ends, and the Job with it", async () => {
  await addNode(cluster, 'busy');
  await cluster.kubectl(['create', 'job', 'report', '--image=none']);
  await cluster.kubectl(['wait', '--for=condition=Complete', 'job/report', '--timeout=60s']);
});

test('a pod that is deleted goes', async () => {
  await cluster.kubectl(['run', 'short', '--image=none', '--overrides', placedOn('busy')]);
  await api.until<Pod>(podNamed('short'), ({ status }) => status.phase === 'Running');
  await cluster.kubectl(['delete', 'pod', 'short', '--timeout=60s']);
});

/** For `kubectl run`: a pod that needs no scheduler. */
function placedOn(nodeName: string): string {
  return JSON.stringify({ spec: { nodeName } });
}
