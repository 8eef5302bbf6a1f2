import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { reasonText } from '../../webhook/core/facts/status-annotation.ts';
import { foreign, profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { daemonSet, networkNamespace, onNode, optedIn, type Pod, podOn, sceneIn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { Api } from './harness/api.ts';
import { eventually } from './harness/eventually.ts';
import { sumIn } from './harness/metrics.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';

interface Stored extends Pod {
  metadata: Pod['metadata'] & { annotations?: Record<string, string>; labels?: Record<string, string> };
}

const cluster = await startCluster();
const { api } = cluster;
const scene = await sceneIn(cluster);
const { agentOn, apply, setReady, until } = stepsIn(cluster);

const isProved = ({ spec }: Pod): boolean => spec.initContainers?.[0]?.name === validatorContainer;

/** Waits until a webhook of cni-gate has logged exactly one decision about a pod, with this outcome and reason. */
const isTold = (webhook: string, pod: string, outcome: string, reason: string): Promise<void> =>
  eventually(async () => {
    const lines = scene.server.lines.filter((one) => one.webhook === webhook && `${one.pod}`.startsWith(pod));
    assert.deepEqual(
      lines.map((one) => [one.outcome, one.reason]),
      [[outcome, reason]],
    );
  });

function withMetadata(pod: object, more: object): object {
  return { ...pod, metadata: { ...('metadata' in pod && (pod.metadata as object)), ...more } };
}

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
const node = await api.get<{ metadata: { uid: string } }>('/api/v1/nodes/n1');
const placed = { ...onNode('n1'), nodeName: 'n1' };

before(async () => {
  await until('refused', 'n1', 'not-ready');
  await cluster.kubectl(['label', 'namespace', networkNamespace, `${profileLabel}=mesh`]);
  await eventually(async () => {
    const pod = podOn('looked-for', { namespace: networkNamespace });
    assert.ok(isProved(await api.post<Pod>(`${podsOf(networkNamespace)}?dryRun=All`, pod)));
  });
});

suite("the network's own DaemonSet, in a namespace that opted in, on a node that is not ready", () => {
  test('its pod is bound, and gets no init container, only an annotation that says why', async () => {
    await cluster.kubectl(['label', 'node', 'n1', 'datapath=here']);
    const pod = (await agentOn('n1', 'datapath')) as Stored;
    const annotations = { [statusAnnotation]: reasonText('network-daemonset') };
    assert.deepEqual([pod.spec.initContainers, pod.metadata.annotations], [undefined, annotations]);
    await isTold('mutate', 'datapath-', 'skipped', 'network-daemonset');
    await isTold('gate', 'datapath-', 'skipped', 'no-profile-applies');
  });

  test('a pod in another namespace that names it as owner is not exempt', async () => {
    const { metadata } = await api.get<Pod>(
      `/apis/apps/v1/namespaces/${networkNamespace}/daemonsets/datapath`,
    );
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'datapath', uid: metadata.uid };
    const forged = withMetadata(podOn('forged-owner', { spec: placed }), {
      ownerReferences: [{ ...owner, controller: true }],
    });
    await assert.rejects(api.post(podsOf(optedIn), forged), /denied the request: node n1 is not ready/);
  });

  test('a pod in its own namespace that names it as owner is exempt, but is garbage-collected', async () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'datapath', uid: 'nobody' };
    const forged = withMetadata(podOn('forged-uid', { namespace: networkNamespace, spec: onNode('n1') }), {
      ownerReferences: [{ ...owner, controller: true }],
    });
    assert.equal(isProved(await api.post<Pod>(podsOf(networkNamespace), forged)), false);
    const path = `${podsOf(networkNamespace)}/forged-uid`;
    await eventually(() => assert.rejects(api.get(path), /"forged-uid" not found/));
  });
});

suite('static pods, in a namespace that opted in, on a node that is not ready', () => {
  const mirror = { 'kubernetes.io/config.source': 'file', [foreign.mirrorPod]: 'hash' };
  /** A mirror pod as the kubelet creates it: without a service account, and owned by its node. */
  const asKubeletDoes = (name: string, annotations: object): object =>
    withMetadata(podOn(name, { spec: { ...placed, enableServiceLinks: false } }), {
      annotations,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid, controller: true },
      ],
    });

  test('the mirror pod that their kubelet creates is allowed, and unchanged', async () => {
    // the user has the rights of a kubelet: those of the Node authorizer and of the admission plugin NodeRestriction
    const kubelet = new Api(await cluster.user('system:node:n1', ['system:nodes']));
    after(() => kubelet.close());
    const copied = { ...mirror, [statusAnnotation]: '{"profile":"mesh","profiles":["mesh"],"checks":[]}' };
    for (const [name, annotations] of [
      ['static-n1', mirror],
      ['static-copied-n1', copied],
    ] as const) {
      const pod = await kubelet.post<Stored>(podsOf(optedIn), asKubeletDoes(name, annotations));
      assert.deepEqual([pod.spec.initContainers, pod.metadata.labels], [undefined, undefined]);
      assert.deepEqual(pod.metadata.annotations, annotations);
      await isTold('mutate', name, 'skipped', 'mirror-pod');
      await isTold('gate', name, 'skipped', 'no-profile-applies');
    }
  });

  test('a similar pod without the annotation is refused', async () => {
    const pod = asKubeletDoes('looks-static', { 'kubernetes.io/config.source': 'file' });
    await assert.rejects(api.post(podsOf(optedIn), pod), /denied the request: node n1 is not ready/);
  });

  test('a pod with the annotation has to name a node, and the annotation cannot be removed', async () => {
    const unplaced = withMetadata(podOn('forged-mirror'), { annotations: mirror });
    await assert.rejects(
      api.post(podsOf(optedIn), unplaced),
      /must set spec\.nodeName if mirror pod annotation/,
    );
    const forged = withMetadata(podOn('forged-mirror', { spec: placed }), { annotations: mirror });
    assert.equal(isProved(await api.post<Pod>(podsOf(optedIn), forged)), false);
    // the annotation cannot be removed, so nobody can turn a mirror pod into an ordinary pod without a proof
    const path = `${podsOf(optedIn)}/forged-mirror`;
    const unmarked = { metadata: { annotations: { [foreign.mirrorPod]: null } } };
    await assert.rejects(api.patch(path, unmarked), /may not remove or update mirror pod annotation/);
  });
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
