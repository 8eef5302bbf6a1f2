import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';
import { apply } from './installed/overlay.ts';

/* These tests check only where the scheduler places the Deployment's pods, so the pods need no processes. */

const cluster = await startCluster();
// n1 has far more free resources, so without a spread rule both pods would run there
await addNode(cluster, 'n1', { capacity: { cpu: '64', memory: '256Gi' } });
await addNode(cluster, 'n2', { capacity: { cpu: '1', memory: '1Gi' } });
await apply(cluster, 'strict');

interface Pod {
  metadata: { deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: { phase: string };
}

async function nodes(): Promise<(string | undefined)[]> {
  const { items } = await cluster.api.get<{ items: Pod[] }>('/api/v1/namespaces/cni-gate/pods');
  return items
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && status.phase === 'Running')
    .map(({ spec }) => spec.nodeName)
    .toSorted();
}

test('two nodes have one replica each', () =>
  eventually(async () => assert.deepEqual(await nodes(), ['n1', 'n2'])));

test('a rolling restart keeps one replica on each node', async () => {
  await restart();
  assert.deepEqual(await nodes(), ['n1', 'n2']);
});

test('a replica moves from an unreachable node to the other one within seconds', async (t) => {
  const start = performance.now();
  // the taints that the node-lifecycle controller sets when a node's heartbeats stop
  const taints = ['NoSchedule', 'NoExecute'].map((effect) => `node.kubernetes.io/unreachable:${effect}`);
  await cluster.kubectl(['taint', 'nodes', 'n2', ...taints]);
  await eventually(async () => assert.deepEqual(await nodes(), ['n1', 'n1']), 60);
  t.diagnostic(`${((performance.now() - start) / 1000).toFixed(1)} s after the taint`);
});

test('on a single node, both replicas run, and a rolling restart completes', async () => {
  await restart();
  assert.deepEqual(await nodes(), ['n1', 'n1']);
});

async function restart(): Promise<void> {
  await cluster.kubectl(['-n', 'cni-gate', 'rollout', 'restart', 'deployment/cni-gate']);
  await cluster.kubectl(['-n', 'cni-gate', 'rollout', 'status', 'deployment/cni-gate', '--timeout=60s']);
  // the last of the old pods may still be terminating
  await eventually(async () => assert.equal((await nodes()).length, 2));
}
