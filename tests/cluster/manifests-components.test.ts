import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { optOutValue, profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { blocks } from '../support/pages.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { runningPods, trusted } from './installed/installation.ts';
import { applyOwn, tryPod } from './installed/overlay.ts';
import { type StoredPod, startPod } from './installed/pod.ts';
import { initNames, makeNamespace, type UserPod } from './installed/working.ts';

interface Patch {
  target?: { kind: string };
  patch: string;
}

interface NetworkPolicy {
  spec: {
    podSelector: { matchLabels: Record<string, string> };
    ingress: { ports: { port: string }[]; from?: object[] }[];
  };
}

/* A user's kustomization, as in the guide, with every component that needs no further software in the cluster. */

const mirror = 'mirror.example:5000/tools/validator';

/** The guide's patch that names the addresses from which the API server calls. */
const narrow = blocks(readFileSync(new URL('../../docs/guides/install.md', import.meta.url), 'utf8'), 'yaml')
  .flatMap((block): Patch[] => parse(block).patches ?? [])
  .find(({ target }) => target?.kind === 'NetworkPolicy');
assert.ok(narrow);

const cluster = await startCluster();
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await applyOwn(cluster, {
  overlay: 'strict',
  components: ['host-network', 'network-policy', 'no-opt-out'],
  fields: {
    images: [{ name: 'ghcr.io/cni-gate/cni-gate-validator', newName: mirror }],
    patches: [narrow],
  },
  transformers: ['image'],
});
const pods = await runningPods(cluster, 2);
assert.ok(pods[0]);
// both nodes have the same address here, so only one replica can listen on the ports of its node
const replica = await startPod(cluster, pods[0]);
after(() => replica.end('SIGKILL'));
await trusted(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

test('the network policy selects the replicas and their ports, and has the sources of the guide', async () => {
  const { spec } = await cluster.api.get<NetworkPolicy>(
    '/apis/networking.k8s.io/v1/namespaces/cni-gate/networkpolicies/cni-gate',
  );
  const labels = Object.entries(spec.podSelector.matchLabels).map((pair) => pair.join('='));
  const selected = await cluster.api.get<{ items: StoredPod[] }>(
    `/api/v1/namespaces/cni-gate/pods?labelSelector=${encodeURIComponent(labels.join())}`,
  );
  const uids = (some: StoredPod[]): string[] => some.map(({ metadata }) => metadata.uid).sort();
  assert.deepEqual(uids(selected.items), uids(pods));
  const named = pods.map(({ spec: { containers } }) => containers.flatMap(({ ports }) => ports ?? []));
  for (const ports of named) assert.deepEqual(ports.map(({ name }) => name).sort(), ['https', 'ops']);
  const [calls, ops] = spec.ingress;
  assert.deepEqual(
    calls?.ports.map(({ port }) => port),
    ['https'],
  );
  assert.deepEqual(calls?.from, parse(narrow.patch)[0].value);
  // the kubelet's probes are still allowed
  assert.deepEqual(ops, { ports: [{ port: 'ops', protocol: 'TCP' }] });
});

test('on the host network, a replica serves on the ports of its node', async () => {
  assert.equal(pods[0]?.spec.hostNetwork, true);
  await eventually(async () => {
    const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
    assert.deepEqual(initNames(stored), [validatorContainer]);
  });
});

test('the injected image comes from the mirror, which is named once, and the policy accepts it', async () => {
  const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
  assert.match(stored.spec.initContainers?.[0]?.image ?? '', new RegExp(`^${mirror}:`));
});

test('where pods may not opt out, their label exempts none, even while cni-gate is down', async () => {
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
