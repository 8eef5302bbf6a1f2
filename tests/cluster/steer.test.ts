import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCluster } from '../../webhook/cluster/open.ts';
import type { ApiPod } from '../../webhook/core/facts/api.ts';
import { type PendingPod, toPendingPod } from '../../webhook/core/facts/pending-pod.ts';
import { nominate } from '../../webhook/leader/pod-requests.ts';
import { daemonSet, optedIn, type Pod, podOn, sceneIn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { addNode } from './harness/nodes.ts';
import { workload } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';

const cluster = await startCluster();
const { api } = cluster;
// the replica that leads gets no admission calls, so it knows only what it reads from the API server
const scene = await sceneIn(cluster, { host: '10.254.4.1', leader: '10.254.4.2' });
const { agentOn, apply, setReady } = stepsIn(cluster);

/** Pods that fit a ready node have to be bound within this many seconds after their creation. */
const promised = 15;

for (const name of ['n1', 'n2']) await addNode(cluster, name, { capacity: { cpu: '20' } });
await apply(daemonSet('agent'));
await agentOn('n2');
await setReady(await agentOn('n1'), false);
// uses 85 % of the CPU of n2, with a pod that is not steered
const max = [{ name: 'filler', image: 'none', resources: { requests: { cpu: '17' } } }];
await apply(podOn('filler', { namespace: 'default', spec: { nodeName: 'n2', containers: max } }));

/** The number of pods in the Deployment. */
const replicas = 50;

/** A Deployment whose pods the scheduler would spread over both nodes. */
function crowd(): object {
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { app: 'steered' } },
  };
  const resources = { requests: { cpu: '50m' } };
  const spec = {
    topologySpreadConstraints: [spread],
    containers: [{ name: 'web', image: 'example/web', resources }],
  };
  return workload('Deployment', 'steered', { namespace: optedIn, replicas, spec });
}

const steered = `${podsOf(optedIn)}?labelSelector=app%3Dsteered`;

/** How often each refused pod of the Deployment was refused. */
function refusals(): number[] {
  const lines = scene.server.lines.filter(
    ({ outcome, webhook, pod }) =>
      outcome === 'refused' && webhook === 'gate' && String(pod).startsWith('steered'),
  );
  return [...Map.groupBy(lines, ({ pod }) => pod).values()].map(({ length }) => length);
}

test('refused pods are bound to the ready node after at most two refusals', async (t) => {
  const began = performance.now();
  await apply(crowd());
  const seen = new Set<string>();
  const all = ({ metadata, spec }: Pod): boolean => {
    if (spec.nodeName) seen.add(metadata.name);
    return seen.size === replicas;
  };
  await api.until<Pod>(steered, all, promised).catch(() => {
    assert.fail(`${seen.size} of ${replicas} pods are bound after ${promised} s`);
  });
  const took = (performance.now() - began) / 1000;
  const { items } = await api.get<{ items: Pod[] }>(steered);
  assert.deepEqual([...new Set(items.map(({ spec }) => spec.nodeName))], ['n2']);
  const counts = refusals();
  t.diagnostic(`bound after ${took.toFixed(1)} s; refusals of each refused pod: ${counts}`);
  assert.ok(counts.length > 0, 'nothing was refused, so the test shows nothing');
  assert.ok(Math.max(...counts) <= 2, `a pod was refused ${Math.max(...counts)} times`);
});

test('a nomination is written only to the pod and the version that were read', async () => {
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
  assert.equal((await write(before)).result, 'conflict', 'another pod has that name');
  assert.notEqual((await write({ ...pod, uid: before.uid })).result, 'made');
  const written = await write(pod);
  const now = toPendingPod(await api.get<ApiPod>(`${podsOf('default')}/by-hand`));
  assert.deepEqual(written, { result: 'made', version: now.version });
  assert.deepEqual(now, { ...pod, nominated: 'n2', version: now.version });
  assert.equal((await write(pod)).result, 'conflict', 'the version has changed');
  client.close();
});
