import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { reasonText } from '../../webhook/core/facts/status-annotation.ts';
import { foreign, profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { requiring } from '../support/affinity.ts';
import {
  bystander,
  daemonSet,
  networkNamespace,
  onNode,
  optedIn,
  type Pod,
  podOn,
  sceneIn,
} from './gate/scene.ts';
import { binding, podsOf, scheduled, stepsIn } from './gate/steps.ts';
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

const { agentOn, apply, bound, named, refusal, setReady, until } = stepsIn(cluster);

await addNode(cluster, 'n1');
await addNode(cluster, 'outside', { labels: { network: 'none' } });
await apply(
  daemonSet('agent', {
    affinity: requiring({ matchExpressions: [{ key: 'network', operator: 'NotIn', values: ['none'] }] }),
  }),
);
const agent = await agentOn('n1');

suite('the gate on a real control plane', () => {
  test('a node whose DaemonSet pod is ready, and one that the DaemonSet does not select, get pods', async () => {
    await bound('n1', 'ready');
    await bound('outside', 'exempt');
  });

  test('a pod waits while the DaemonSet pod is not Ready, its event says why, and it is bound once it is', async () => {
    await setReady(agent, false);
    const message = await refusal('n1', 'first');
    assert.match(
      message,
      /^running Bind plugin "DefaultBinder": admission webhook "bindings\.cni-gate\.io" denied the request: node n1 is not ready for profile mesh: DaemonSet net\/agent is starting there since \S+Z \(pod agent-\w+\): its pod is not Ready: install-cni \(CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=starting\)$/,
    );
    await apply(podOn('waits', { spec: onNode('n1') }));
    await api.until<Pod>(named(optedIn, 'waits'), (pod) => scheduled(pod)?.message?.includes('denied'));
    const events = await cluster.kubectl([
      'get',
      'events',
      '-n',
      optedIn,
      '-o',
      'jsonpath={.items[*].message}',
    ]);
    assert.match(events, /DaemonSet net\/agent is starting there/);
    await setReady(agent, true);
    await api.until<Pod>(named(optedIn, 'waits'), ({ spec }) => spec.nodeName === 'n1');
  });

  test('a new node gets pods once it has its DaemonSet pod', async () => {
    // the agent's pod exists immediately, but stays Pending because kwok does not run this node
    await apply(daemonSet('slow', { nodeSelector: { slow: 'yes' } }));
    await scene.configure(['agent', 'slow']);
    await addNode(cluster, 'n2', { labels: { slow: 'yes' }, kwok: false });
    assert.match(await refusal('n2', 'too-early'), /DaemonSet net\/(agent|slow) is (absent|starting) there/);
    // the profile has two DaemonSets: the one that does not select n1 blocks no pod on n1
    await bound('n1', 'one-of-two');
    await scene.configure(['agent']);
  });

  test('a node gets pods when the DaemonSet no longer selects it, and again with a new DaemonSet pod', async () => {
    const before = await agentOn('n1');
    await cluster.kubectl(['label', 'node', 'n1', 'network=none', '--overwrite']);
    await eventually(async () => {
      const { items } = await api.get<{ items: Pod[] }>(podsOf(networkNamespace));
      assert.ok(!items.some(({ metadata }) => metadata.uid === before.metadata.uid), 'it is still there');
    });
    await bound('n1', 'not-wanted');
    await cluster.kubectl(['label', 'node', 'n1', 'network-']);
    const next = await agentOn('n1');
    assert.notEqual(next.metadata.uid, before.metadata.uid);
    await until('allowed', 'n1', 'wanted-again');
  });

  test('after a reboot, a node needs a new container of the DaemonSet pod, even if the pod is Ready', async () => {
    const pod = await agentOn('n1');
    await setReady(pod, true, 'containerd://boot-1');
    await until('allowed', 'n1', 'boot-1');
    await api.patch('/api/v1/nodes/n1/status', { status: { nodeInfo: { bootID: 'boot-2' } } });
    assert.match(
      await refusal('n1', 'rebooted'),
      /is rebooted there \(pod agent-\w+\): not all containers of its pod have started since the node's boot boot-2/,
    );
    await setReady(pod, false, 'containerd://boot-1');
    assert.match(await refusal('n1', 'still'), /is rebooted there/);
    await setReady(pod, true, 'containerd://boot-2');
    await until('allowed', 'n1', 'boot-2');
  });

  test('pods that the gate does not check are bound to a node that is not ready', async () => {
    const pod = await agentOn('n1');
    await setReady(pod, false);
    await until('refused', 'n1', 'held');
    await bound('n1', 'bystander', { namespace: bystander });
    await bound('n1', 'own-network', { spec: { hostNetwork: true } });
    await bound('n1', 'opted-out', { labels: { [profileLabel]: 'none' } });
    // the DaemonSet controller recreates the pod, although the node is not ready until that pod is Ready
    await api.delete(`${podsOf(networkNamespace)}/${pod.metadata.name}`);
    await agentOn('n1');
    await until('allowed', 'n1', 'after');
  });

  test('a pod created with spec.nodeName is refused, and so is a Binding by the older resource', async () => {
    const pod = await agentOn('n1');
    await setReady(pod, false);
    await until('refused', 'n1', 'unready');
    await assert.rejects(
      api.post(podsOf(optedIn), podOn('placed', { spec: { nodeName: 'n1' } })),
      /admission webhook "placed-pods\.cni-gate\.io" denied the request: node n1 is not ready/,
    );
    await api.post(podsOf(optedIn), podOn('by-hand', { spec: { schedulerName: 'nobody' } }));
    for (const path of [`${podsOf(optedIn)}/by-hand/binding`, `/api/v1/namespaces/${optedIn}/bindings`]) {
      for (const kind of ['Node', '']) {
        await assert.rejects(
          api.post(path, binding('by-hand', 'n1', kind)),
          /bindings\.cni-gate\.io" denied the request: node n1/,
        );
      }
      // the API server rejects any other kind before it calls the gate
      await assert.rejects(
        api.post(path, binding('by-hand', 'n1', 'Pod')),
        /target\.kind: Unsupported value: "Pod"/,
      );
    }
    await setReady(pod, true);
    await until('allowed', 'n1', 'ready-again');
    await api.post(podsOf(optedIn), podOn('placed', { spec: { nodeName: 'n1' } }));
  });
});

suite('in a namespace that opted in, on a node that is not ready', () => {
  before(async () => {
    // at first, no node matches `datapath`, so that cni-gate knows the DaemonSet before its first pod is created; the
    // pods are not on the host network, because cni-gate exempts all pods on the host network
    await apply(daemonSet('datapath', { hostNetwork: false, nodeSelector: { datapath: 'here' } }));
    await scene.configure(['agent', 'datapath']);
    await setReady(await agentOn('n1'), false);
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
      const given = pod(
        name,
        { nodeName: 'n1', enableServiceLinks: false },
        { annotations, ownerReferences },
      );
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
    const answer = await eventually(async () => {
      const before = await lookups();
      const said = await api
        .post(`${path}/binding?dryRun=All`, binding(name, 'n1'))
        .then(() => 'allowed', String);
      // cni-gate does not watch pods without the label, so it has to get this pod from the API server
      assert.ok((await lookups()) > before, 'the watch has not reported the change yet');
      return said;
    });
    assert.match(answer, /denied the request: node n1 is not ready/);
  });
});

async function lookups(): Promise<number> {
  const { host, opsPort } = scene.server;
  const text = await (await fetch(`http://${host}:${opsPort}/metrics`)).text();
  return sumIn(text, 'cni_gate_cluster_lookups_total', { resource: 'pods', result: 'found' });
}
