import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { addNode } from './harness/nodes.ts';
import { workload } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { install, runningPods } from './installed/installation.ts';
import { startPod } from './installed/pod.ts';
import { deployment, initNames, makeNamespace, runningPod } from './installed/working.ts';

/* A cold start of the cluster. The networks' DaemonSets must not wait for cni-gate, because cni-gate waits for them. */

const networks = [
  { namespace: 'kube-system', name: 'cilium' },
  // the namespace opted in by mistake, and the pods are not on the host network: only the DaemonSet's name exempts them
  { namespace: 'linkerd-cni', name: 'linkerd-cni' },
];

const cluster = await startCluster();
const before = await install(cluster, 'strict');
after(() => Promise.all(before.replicas.map((replica) => replica.end('SIGKILL'))));

await makeNamespace(cluster, 'linkerd-cni', { [profileLabel]: 'cilium' });
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
for (const { namespace, name } of networks) {
  await cluster.kubectl(['-n', namespace, 'apply', '-f', '-'], {
    input: [workload('DaemonSet', name)],
  });
  await runningPod(cluster, namespace, name);
}
await cluster.kubectl(['-n', 'shop', 'apply', '-f', '-'], { input: [deployment('web')] });
await runningPod(cluster, 'shop', 'web');

test('after a cold start, the networks start first, then cni-gate, then the pods that opted in', async () => {
  await turnOff();
  await Promise.all([addNode(cluster, 'new-1'), addNode(cluster, 'new-2')]);

  for (const { namespace, name } of networks) {
    assert.deepEqual(initNames(await runningPod(cluster, namespace, name)), []);
  }
  const pods = await runningPods(cluster, 2);
  assert.deepEqual(
    [...new Set(pods.map(({ spec }) => spec.nodeName))].map((name) => name?.slice(0, 4)),
    ['new-', 'new-'],
  );
  // no replica answers yet, so no pod of a namespace that opted in can be created
  assert.deepEqual(await podsOf('shop'), []);
  await cluster.api.until<{ message: string }>('/api/v1/namespaces/shop/events', ({ message }) =>
    /failed calling webhook "pods.cni-gate.io"/.test(message),
  );

  const replicas = await Promise.all(pods.map((pod) => startPod(cluster, pod)));
  after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
  // the controller retries with increasing delays
  assert.deepEqual(initNames(await runningPod(cluster, 'shop', 'web')), [validatorContainer, 'migrate']);
});

/** Deletes everything that is lost when all machines are off: processes, nodes and pods. */
async function turnOff(): Promise<void> {
  for (const replica of before.replicas) await replica.end('SIGKILL');
  await cluster.kubectl(['delete', 'nodes', '--all']);
  await cluster.kubectl(['delete', 'pods', '--all', '--all-namespaces', '--force', '--grace-period=0']);
  await cluster.kubectl(['wait', '--for=delete', 'nodes', '--all']);
}

async function podsOf(where: string): Promise<unknown[]> {
  return (await cluster.api.get<{ items: unknown[] }>(`/api/v1/namespaces/${where}/pods`)).items;
}
