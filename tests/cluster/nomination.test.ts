import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openCluster } from '../../webhook/cluster/open.ts';
import type { ApiPod } from '../../webhook/core/facts/api.ts';
import { type PendingPod, toPendingPod } from '../../webhook/core/facts/pending-pod.ts';
import { nominate } from '../../webhook/leader/pod-requests.ts';
import { accountOfManifests, daemonSet, optedIn, type Pod, podOn, sceneIn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { boundVolume } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { counted, refusals } from './steer/crowd.ts';

const cluster = await startCluster();
const { api } = cluster;
const { kubeconfig } = await accountOfManifests(cluster);
const scene = await sceneIn(cluster, { host: '10.254.4.3', kubeconfig });
const { agentOn, apply, named, setReady } = stepsIn(cluster);

function withVolume(name: string, ...nodes: string[]): object[] {
  return [
    ...boundVolume(optedIn, name, nodes),
    podOn(name, {
      spec: {
        containers: [{ name: 'web', image: 'example/web', resources: { requests: { cpu: '100m' } } }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
      },
    }),
  ];
}

suite('pods with volumes', () => {
  test('of two nodes: it is steered to the other one in the zone; of one node: it waits for that one', async () => {
    // the scheduler prefers the node with the most free CPU: n1, and then n3
    const usage = { n1: ['40', 'a'], n2: ['10', 'a'], n3: ['20', 'b'] } as const;
    for (const [name, [cpu, zone]] of Object.entries(usage)) {
      await addNode(cluster, name, { capacity: { cpu }, labels: { 'topology.kubernetes.io/zone': zone } });
    }
    await apply(daemonSet('agent'));
    for (const name of Object.keys(usage)) await agentOn(name);
    await setReady(await agentOn('n1'), false);
    await apply(...withVolume('stays', 'n1'), ...withVolume('goes', 'n1', 'n2'));
    await api.until<Pod>(named(optedIn, 'goes'), ({ spec }) => spec.nodeName === 'n2');
    await eventually(async () => assert.ok(counted(refusals(scene, 'stays')).max >= 4), 60);
    const nominations = (name: string) =>
      scene.server.lines.filter(({ pod, why }) => why && pod === `${optedIn}/${name}`);
    assert.deepEqual(
      nominations('goes').map(({ node }) => node),
      ['n2'],
    );
    // n2 is the only other node in the zone: it is tried once, or twice if a nomination raced with scheduling
    const tried = nominations('stays').map(({ node }) => node);
    assert.ok(tried.length <= 2 && tried.every((node) => node === 'n2'), `nominated for ${tried}`);
    const faults = scene.server.lines.filter(({ msg }) => String(msg).includes('RBAC'));
    assert.deepEqual(faults, [], 'a right is missing');
    await setReady(await agentOn('n1'), true);
    await api.until<Pod>(named(optedIn, 'stays'), ({ spec }) => spec.nodeName === 'n1');
  });
});

suite('a nomination', () => {
  test('is written on exactly the pod and the version that was read', async () => {
    const client = await openCluster(cluster.admin.kubeconfig);
    const spec = { schedulerName: 'nobody' };
    const object = podOn('by-hand', { namespace: 'default', spec });
    const make = async (): Promise<PendingPod> =>
      toPendingPod(await api.post<ApiPod>(podsOf('default'), object));
    const write = (pod: PendingPod) => nominate(client, { pod, node: 'n2' }, AbortSignal.timeout(10_000));
    const before = await make();
    await cluster.kubectl(['delete', 'pod', 'by-hand']);
    assert.equal((await write(before)).result, 'gone');
    const pod = await make();
    assert.equal((await write(before)).result, 'conflict', 'it is another pod of that name');
    assert.notEqual((await write({ ...pod, uid: before.uid })).result, 'made');
    const written = await write(pod);
    const now = toPendingPod(await api.get<ApiPod>(`${podsOf('default')}/by-hand`));
    assert.deepEqual(written, { result: 'made', version: now.version });
    assert.deepEqual(now, { ...pod, nominated: 'n2', version: now.version });
    assert.equal((await write(pod)).result, 'conflict', 'it is another version by now');
    client.close();
  });
});
