import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
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
import { podsOf, scheduled, stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';

const cluster = await startCluster();
const { api } = cluster;
const scene = await sceneIn(cluster);

const { agentOn, apply, bound, named, refusal, setReady, until } = stepsIn(cluster);

await addNode(cluster, 'n1');
await addNode(cluster, 'outside', { labels: { network: 'none' } });
await apply(
  daemonSet('agent', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'network', operator: 'NotIn', values: ['none'] }] },
          ],
        },
      },
    },
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

  test('after a reboot, a node needs a new container of the DaemonSet pod, even if the pod reads Ready', async () => {
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
    // the DaemonSet recreates its pod, on a node that is not ready without that pod
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
    const binding = (kind?: string): object => ({
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'by-hand', namespace: optedIn },
      target: { apiVersion: 'v1', name: 'n1', ...(kind && { kind }) },
    });
    for (const path of [`${podsOf(optedIn)}/by-hand/binding`, `/api/v1/namespaces/${optedIn}/bindings`]) {
      for (const kind of ['Node', undefined]) {
        await assert.rejects(
          api.post(path, binding(kind)),
          /bindings\.cni-gate\.io" denied the request: node n1/,
        );
      }
      // the API server rejects any other kind before it calls the gate
      await assert.rejects(api.post(path, binding('Pod')), /target\.kind: Unsupported value: "Pod"/);
    }
    await setReady(pod, true);
    await until('allowed', 'n1', 'ready-again');
    await api.post(podsOf(optedIn), podOn('placed', { spec: { nodeName: 'n1' } }));
  });
});
