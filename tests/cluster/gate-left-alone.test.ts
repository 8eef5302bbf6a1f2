import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { reasonText } from '../../webhook/core/facts/status-annotation.ts';
import { foreign, profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { daemonSet, networkNamespace, optedIn, type Pod, podOn, sceneIn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { Api } from './harness/api.ts';
import { eventually } from './harness/eventually.ts';
import { sumIn } from './harness/metrics.ts';
import { addNode } from './harness/nodes.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';

interface Stored extends Pod {
  metadata: Pod['metadata'] & { annotations?: Record<string, string>; labels?: Record<string, string> };
}

const cluster = await startCluster();
const { api } = cluster;
const scene = await sceneIn(cluster);
const { agentOn, apply, setReady, until } = stepsIn(cluster);

/* Pods of a namespace that opted in, on a node that is not ready. */

await addNode(cluster, 'n1');
// not on the host network, because cni-gate exempts all pods on the host network
const onPodNetwork = { hostNetwork: false };
// no node matches `datapath` yet, because cni-gate has to know the DaemonSet before its first pod is created
await apply(
  daemonSet('agent'),
  daemonSet('datapath', { ...onPodNetwork, nodeSelector: { datapath: 'here' } }),
);
await scene.configure(['agent', 'datapath']);
await setReady(await agentOn('n1'), false);

before(async () => {
  await until('refused', 'n1', 'not-ready');
  await cluster.kubectl(['label', 'namespace', networkNamespace, `${profileLabel}=mesh`]);
  await eventually(async () => {
    const { spec } = await api.post<Pod>(`${podsOf(networkNamespace)}?dryRun=All`, pod('looked-for'));
    assert.equal(spec.initContainers?.[0]?.name, validatorContainer);
  });
});

test("a pod of the network's own DaemonSet is bound, and gets only an annotation that says why", async () => {
  await cluster.kubectl(['label', 'node', 'n1', 'datapath=here']);
  const { spec, metadata } = (await agentOn('n1', 'datapath')) as Stored;
  const annotations = { [statusAnnotation]: reasonText('network-daemonset') };
  assert.deepEqual([spec.initContainers, metadata.annotations], [undefined, annotations]);
});

test('the mirror pod that a kubelet creates for a static pod is allowed, and unchanged', async () => {
  // the user has the rights of a kubelet: those of the Node authorizer and of the admission plugin NodeRestriction
  const kubelet = new Api(await cluster.user('system:node:n1', ['system:nodes']));
  after(() => kubelet.close());
  const { metadata: node } = await api.get<{ metadata: { uid: string } }>('/api/v1/nodes/n1');
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.uid, controller: true }];
  const mirror = { 'kubernetes.io/config.source': 'file', [foreign.mirrorPod]: 'hash' };
  const copied = { ...mirror, [statusAnnotation]: '{"profile":"mesh","profiles":["mesh"],"checks":[]}' };
  for (const [name, annotations] of Object.entries({ static: mirror, copied })) {
    const given = pod(name, { nodeName: 'n1', enableServiceLinks: false }, { annotations, ownerReferences });
    const { spec, metadata } = await kubelet.post<Stored>(podsOf(optedIn), given);
    assert.deepEqual([spec.initContainers, metadata.labels], [undefined, undefined]);
    assert.deepEqual(metadata.annotations, annotations);
  }
});

test('removing what the webhook wrote from a waiting pod does not get the pod past the gate', async () => {
  const name = 'stripped';
  const path = `${podsOf(optedIn)}/${name}`;
  await api.post(podsOf(optedIn), podOn(name, { spec: { schedulerName: 'nobody' } }));
  await api.patch(path, {
    metadata: { labels: { [profileLabel]: null }, annotations: { [statusAnnotation]: null } },
  });
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, namespace: optedIn },
    target: { kind: 'Node', name: 'n1' },
  };
  const answer = await eventually(async () => {
    const before = await lookups();
    const said = await api.post(`${path}/binding?dryRun=All`, binding).then(() => 'allowed', String);
    // cni-gate does not watch pods without the label, so it has to get this pod from the API server
    assert.ok((await lookups()) > before, 'the watch has not reported the change yet');
    return said;
  });
  assert.match(answer, /denied the request: node n1 is not ready/);
});

async function lookups(): Promise<number> {
  const { host, opsPort } = scene.server;
  const text = await (await fetch(`http://${host}:${opsPort}/metrics`)).text();
  return sumIn(text, 'cni_gate_cluster_lookups_total', { resource: 'pods', result: 'found' });
}
