import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster } from './harness/cluster.ts';
import { addNode } from './harness/nodes.ts';

const started = performance.now();
const cluster = await Cluster.start({ own: true });
const seconds = (performance.now() - started) / 1000;
after(() => cluster.stop());
await addNode(cluster, 'n1');

interface Versions {
  clientVersion: { gitVersion: string };
  serverVersion: { gitVersion: string };
}

test('programs and API server know their version', async (t) => {
  t.diagnostic(`a control plane started in ${seconds.toFixed(1)} s`);
  const versions: Versions = JSON.parse(await cluster.kubectl(['version', '-o', 'json']));
  assert.match(versions.serverVersion.gitVersion, /^v1\.\d+\.\d+$/);
  assert.equal(versions.clientVersion.gitVersion, versions.serverVersion.gitVersion);
});

test("a Deployment's pods are scheduled on a fake node, and run there", async () => {
  await cluster.kubectl(['create', 'deployment', 'web', '--image=none', '--replicas=3']);
  await cluster.kubectl(['wait', '--for=condition=Available', 'deployment/web', '--timeout=60s']);
  const pods = await cluster.kubectl(['get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}']);
  assert.equal(pods, 'n1 n1 n1');
});
