import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { optOutValue, profileLabel, validatorContainer } from '../../webhook/names.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { runningPods, trusted } from './installed/installation.ts';
import { pod, tryPod } from './installed/overlay.ts';
import { startPod } from './installed/pod.ts';
import { initNames, makeNamespace, type UserPod } from './installed/working.ts';

/* A kustomization of a user's own, as the guide has it, with every component that needs nothing else in the cluster. */

const manifests = fileURLToPath(new URL('../../manifests', import.meta.url));
const mirror = 'mirror.example:5000/tools/cni-gate';

const cluster = await Cluster.start();
after(() => cluster.stop());
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await cluster.kubectl(['apply', '--validate=strict', '-k', ownKustomization()]);
const pods = await runningPods(cluster, 2);
assert.ok(pods[0]);
// both nodes have one address here, and its ports are there once
const replica = await startPod(cluster, pods[0]);
after(() => replica.end('SIGKILL'));
await trusted(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

/** A folder with a kustomization that is not in the checkout. */
function ownKustomization(): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'own-')), 'cluster');
  mkdirSync(folder);
  const from = (path: string): string => relative(folder, join(manifests, path));
  writeFileSync(
    join(folder, 'kustomization.yaml'),
    JSON.stringify({
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: [from('overlays/strict')],
      components: ['host-network', 'network-policy', 'no-opt-out'].map((name) => from(`components/${name}`)),
      images: [{ name: 'ghcr.io/cni-gate/cni-gate', newName: mirror }],
      transformers: [from('transformers/image')],
    }),
  );
  return folder;
}

test('on the host network it serves at the ports of its node', async () => {
  assert.equal(pods[0]?.spec.hostNetwork, true);
  await eventually(async () => {
    const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
    assert.deepEqual(initNames(stored), [validatorContainer]);
  });
});

test('the mirror that is named once is where the injected image comes from, and the policy agrees', async () => {
  const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
  assert.match(stored.spec.initContainers?.[0]?.image ?? '', new RegExp(`^${mirror}:`));
});

test('where nobody may opt out, the label opens nothing, with cni-gate away neither', async () => {
  await cluster.api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate', {
    data: {
      'config.yaml': 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: { allowOptOut: false }\n',
    },
  });
  await replica.refresh();
  const optedOut = pod('web', {}, { labels: { [profileLabel]: optOutValue } });
  await eventually(async () => {
    assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', optedOut)), [validatorContainer]);
  });
  await replica.end('SIGKILL');
  await assert.rejects(tryPod(cluster, 'shop', optedOut), /failed calling webhook/);
});
