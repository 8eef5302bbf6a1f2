import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCluster } from '../../webhook/cluster/open.ts';
import type { ApiPod } from '../../webhook/core/facts/api.ts';
import { type PendingPod, toPendingPod } from '../../webhook/core/facts/pending-pod.ts';
import { nominate } from '../../webhook/leader/pod-requests.ts';
import { daemonSet, optedIn, type Pod, podOn, sceneIn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { workload } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';

const cluster = await startCluster();
const { api } = cluster;
// the leader gets no admission requests, so it knows only what it reads from the API server
const scene = await sceneIn(cluster, { host: '10.254.4.1', leader: '10.254.4.2' });
const { agentOn, apply, setReady } = stepsIn(cluster);

/** Pods that fit a ready node have to be bound within this many seconds after their creation. */
const promised = 15;
const minute = 60_000;

for (const name of ['n1', 'n2']) await addNode(cluster, name, { capacity: { cpu: '20' } });
await apply(daemonSet('agent'));
await agentOn('n2');
const agent = await agentOn('n1');
await setReady(agent, false);
// uses 85 % of the CPU of n2, with a pod that is not steered
const max = [{ name: 'filler', image: 'none', resources: { requests: { cpu: '17' } } }];
await apply(podOn('filler', { namespace: 'default', spec: { nodeName: 'n2', containers: max } }));

/** The number of pods in each Deployment. */
const replicas = 50;

function crowd(name: string, whenUnsatisfiable: 'ScheduleAnyway' | 'DoNotSchedule'): object {
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable,
    labelSelector: { matchLabels: { app: name } },
  };
  const resources = { requests: { cpu: '50m' } };
  const spec = {
    topologySpreadConstraints: [spread],
    containers: [{ name: 'web', image: 'example/web', resources }],
  };
  return workload('Deployment', name, { namespace: optedIn, replicas, spec });
}

async function placed(name: string): Promise<string[]> {
  const { items } = await api.get<{ items: Pod[] }>(pathOf(name));
  return items.flatMap(({ spec }) => spec.nodeName ?? []);
}

async function bound(name: string, seconds: number): Promise<void> {
  const seen = new Set<string>();
  const all = ({ metadata, spec }: Pod): boolean => {
    if (spec.nodeName) seen.add(metadata.name);
    return seen.size === replicas;
  };
  await api.until<Pod>(pathOf(name), all, seconds).catch(() => {
    assert.fail(`${seen.size} of ${replicas} pods of ${name} are bound after ${seconds} s`);
  });
}

const pathOf = (name: string): string => `/api/v1/namespaces/${optedIn}/pods?labelSelector=app%3D${name}`;

/** A pod, and the times when it was refused, in milliseconds since the epoch. */
interface Refused {
  pod: string;
  times: number[];
}

/** The refusals of each pod whose name begins with `name`. */
function refusals(name: string): Refused[] {
  const lines = scene.server.lines.filter(
    ({ outcome, webhook, pod }) =>
      outcome === 'refused' && webhook === 'gate' && String(pod).startsWith(name),
  );
  return [...Map.groupBy(lines, ({ pod }) => String(pod))].map(([pod, some]) => ({
    pod,
    times: some.map(({ time }) => Date.parse(String(time))),
  }));
}

function counted(all: Refused[]): { total: number; pods: number; max: number } {
  const counts = all.map(({ times }) => times.length);
  return {
    total: counts.reduce((sum, count) => sum + count, 0),
    pods: counts.length,
    max: Math.max(0, ...counts),
  };
}

test('refused pods are bound to the ready node after at most two refusals', async (t) => {
  const began = performance.now();
  await apply(crowd('steered', 'ScheduleAnyway'));
  await bound('steered', promised);
  const took = (performance.now() - began) / 1000;
  const found = counted(refusals('steered'));
  t.diagnostic(`bound after ${took.toFixed(1)} s; refusals: ${JSON.stringify(found)}`);
  assert.deepEqual([...new Set(await placed('steered'))], ['n2']);
  assert.ok(found.total > 0, 'nothing was refused, so the test shows nothing');
  assert.ok(found.max <= 2, `a pod was refused ${found.max} times`);
  await cluster.kubectl(['delete', 'deployment', '-n', optedIn, 'steered', '--cascade=foreground', '--wait']);
});

test('nominated pods that fit nowhere are refused no more often than others, until their node is ready', async (t) => {
  const name = 'nominated';
  await apply(crowd(name, 'DoNotSchedule'));
  await eventually(async () => {
    const times = refusals(name).flatMap(({ times }) => times);
    assert.ok(Math.max(...times) - Math.min(...times) > minute, 'less than a minute of refusals');
  }, 120);
  const inAMinute = refusals(name).map(({ pod, times: [first = 0, ...later] }) => ({
    pod,
    times: [first, ...later.filter((time) => time - first < minute)],
  }));
  const made = scene.leader?.lines.filter(({ pod, why }) => why && String(pod).includes(`/${name}-`)) ?? [];
  const isNominated = ({ pod }: Refused): boolean => made.some((line) => line.pod === `${optedIn}/${pod}`);
  const nominated = counted(inAMinute.filter(isNominated));
  const others = counted(inAMinute.filter((one) => !isNominated(one)));
  t.diagnostic(`${made.length} nominations; ${JSON.stringify({ nominated, others })}`);
  // four tries, after pauses of 10, 20 and 40 s; a try that raced with a scheduling attempt is repeated once; 2 spare
  assert.ok(made.length <= 10, `${made.length} nominations that come to nothing`);
  // for pods without a nomination, only the scheduler's back-off causes retries: they are the comparison
  assert.ok(nominated.max <= others.max + 1, `${nominated.max} refusals of one, ${others.max} of others`);
  const each = (one: ReturnType<typeof counted>): number => one.total / one.pods;
  const all = each(counted(inAMinute));
  assert.ok(all < each(others) + 1, `${all} refusals of each, ${each(others)} without a nomination`);
  await setReady(agent, true);
  await bound(name, promised);
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
