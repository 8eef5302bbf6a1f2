import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { openCluster } from '../../webhook/cluster/open.ts';
import { nominate } from '../../webhook/cluster/steer/nominate.ts';
import { type ApiWaitingPod, pickWaiting, type WaitingPod } from '../../webhook/steer/waiting.ts';
import { daemonSet, networkNamespace, optedIn, type Pod, podOn, setTheScene } from './gate/scene.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';

const cluster = await Cluster.start();
after(() => cluster.stop());
const { api } = cluster;
// the replica that leads gets no call: what it knows, it has from the cluster
const scene = await setTheScene(cluster, { host: '10.254.4.1', leader: '10.254.4.2' });
after(() => scene.server.end());
after(() => scene.leader?.end());

const replicas = 50;
/** What is promised: pods that fit a ready node are bound so many seconds after they were made. */
const promised = 15;

const podsOf = (namespace: string, label: string): string =>
  `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${label}`;
const apply = (...input: object[]): Promise<string> => cluster.kubectl(['apply', '-f', '-'], { input });

for (const name of ['n1', 'n2']) await addNode(cluster, name, { capacity: { cpu: '20' } });
await apply(daemonSet('agent'));

/** The agent's pod on a node, once kwok runs it. */
const agentOn = (node: string): Promise<Pod> =>
  api.until<Pod>(
    `${podsOf(networkNamespace, 'agent')}&fieldSelector=spec.nodeName%3D${node}`,
    ({ status }) => status.phase === 'Running',
  );
const agent = await agentOn('n1');
await agentOn('n2');
// 85 % of n2, by a pod that is nobody's business
await apply({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'filler' },
  spec: {
    nodeName: 'n2',
    containers: [{ name: 'filler', image: 'none', resources: { requests: { cpu: '17' } } }],
  },
});

/** Makes the agent's pod on n1 read Ready or not; kwok leaves a pod that runs alone. */
async function setReady(ready: boolean): Promise<void> {
  const status = ready ? 'True' : 'False';
  const conditions = [{ type: 'Ready', status, lastTransitionTime: new Date().toISOString() }];
  await api.patch(`/api/v1/namespaces/${networkNamespace}/pods/${agent.metadata.name}/status`, {
    status: { conditions },
  });
}

/** A Deployment of many small pods, spread over hosts. */
function deployment(name: string, whenUnsatisfiable: string): object {
  const labels = { app: name };
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable,
    labelSelector: { matchLabels: labels },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: optedIn, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          topologySpreadConstraints: [spread],
          containers: [{ name: 'web', image: 'example/web', resources: { requests: { cpu: '50m' } } }],
        },
      },
    },
  };
}

/** Waits until so many pods are bound; their nodes. Fails after some seconds, and tells how many were. */
async function bound(name: string, seconds: number): Promise<string[]> {
  const nodes = new Map<string, string>();
  const all = ({ metadata, spec }: Pod): boolean => {
    if (spec.nodeName) nodes.set(metadata.name, spec.nodeName);
    return nodes.size === replicas;
  };
  await api.until<Pod>(podsOf(optedIn, name), all, seconds).catch(() => {
    assert.fail(`${nodes.size} of ${replicas} pods of ${name} are bound after ${seconds} s`);
  });
  return [...nodes.values()];
}

/** Every refusal of a pod whose name begins so. */
const refused = (name: string): Record<string, unknown>[] =>
  scene.server.lines.filter(
    ({ outcome, webhook, pod }) =>
      outcome === 'refused' && webhook === 'gate' && String(pod).startsWith(name),
  );

/**
 * How often each of these pods was refused, most often first.
 *
 * @param within so many milliseconds from its first refusal on
 */
function refusals(name: string, within = Number.POSITIVE_INFINITY): number[] {
  return [...Map.groupBy(refused(name), ({ pod }) => pod).values()]
    .map((lines) => lines.filter(({ time }) => Number(time) - Number(lines[0]?.time) < within).length)
    .sort((one, other) => other - one);
}

async function gone(name: string): Promise<void> {
  await cluster.kubectl(['delete', 'deployment', '-n', optedIn, name, '--cascade=foreground', '--wait']);
}
const total = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** Waits until a pod of a Deployment was refused so often: the scheduler has tried them all for that long. */
async function refusedOften(name: string, times: number): Promise<void> {
  await eventually(async () => assert.ok((refusals(name)[0] ?? 0) >= times), 90);
}

suite('pods that were refused', () => {
  test('are bound to the node that is ready, after two refusals at most', async (t) => {
    await setReady(false);
    const began = performance.now();
    await apply(deployment('steered', 'ScheduleAnyway'));
    const nodes = await bound('steered', promised);
    const counts = refusals('steered');
    t.diagnostic(
      `bound after ${((performance.now() - began) / 1000).toFixed(1)} s, ${total(counts)} refusals, ${counts[0]} at most`,
    );
    assert.deepEqual([...new Set(nodes)], ['n2']);
    assert.ok(total(counts) > 0, 'nothing was refused, so nothing was shown');
    assert.ok((counts[0] ?? 0) <= 2, `a pod was refused ${counts[0]} times`);
    await gone('steered');
  });

  test('starve beside a node that is ready where nobody nominates it', async (t) => {
    await scene.configure(['agent'], 'off');
    await apply(deployment('starving', 'ScheduleAnyway'));
    await refusedOften('starving', 5);
    const { items } = await api.get<{ items: Pod[] }>(podsOf(optedIn, 'starving'));
    const waiting = items.filter(({ spec }) => spec.nodeName === undefined).length;
    t.diagnostic(
      `${waiting} of ${replicas} wait after 5 refusals of one; ${total(refusals('starving'))} in all`,
    );
    assert.ok(waiting > 0, 'all were bound without anybody nominating a node');
    await gone('starving');
    await scene.configure(['agent']);
  });
});

suite('pods that fit nowhere else', () => {
  /** Of each pod, when it was refused in the minute after the first refusal of all. */
  async function minuteOf(name: string): Promise<{ total: number; pods: number; most: number }> {
    await apply(deployment(name, 'DoNotSchedule'));
    await eventually(async () => {
      const times = refused(name).map(({ time }) => Number(time));
      assert.ok(Math.max(...times) - Math.min(...times) > 60_000, 'the minute is not over');
    }, 120);
    const counts = refusals(name, 60_000);
    return { total: total(counts), pods: counts.length, most: counts[0] ?? 0 };
  }

  test('are not tried more often for being nominated, and are bound once their node is ready', async (t) => {
    await setReady(false);
    await scene.configure(['agent'], 'off');
    const without = await minuteOf('alone');
    await gone('alone');
    await scene.configure(['agent']);
    const nominated = await minuteOf('nominated');
    const made = (scene.leader?.lines ?? []).filter(
      ({ pod, why }) => why && String(pod).includes('/nominated-'),
    );
    t.diagnostic(
      `without ${JSON.stringify(without)}, with ${JSON.stringify(nominated)} and ${made.length} nominations`,
    );
    // how many wait differs from run to run, how often one is tried does not
    assert.ok(nominated.most <= without.most, `${nominated.most} refusals of one, ${without.most} without`);
    assert.ok(made.length > 0, 'no node was nominated, so nothing was shown');
    assert.ok(made.length <= 10, `${made.length} nominations that come to nothing`);
    await setReady(true);
    await bound('nominated', promised);
    await gone('nominated');
  });
});

suite('a pod with a volume', () => {
  const local = (name: string, ...nodes: string[]): object[] => [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        claimRef: { namespace: optedIn, name },
        local: { path: '/none' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: nodes }] },
            ],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: optedIn, name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: '',
        volumeName: name,
        resources: { requests: { storage: '1Gi' } },
      },
    },
    podOn(name, {
      spec: {
        containers: [{ name: 'web', image: 'example/web', resources: { requests: { cpu: '50m' } } }],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: name } }],
      },
    }),
  ];
  const named = (name: string): string =>
    `/api/v1/namespaces/${optedIn}/pods?fieldSelector=metadata.name%3D${name}`;

  test('goes where the volume can be used, and waits where that is only the node that is not ready', async () => {
    await setReady(false);
    // the emptiest that is ready
    await addNode(cluster, 'n3', { capacity: { cpu: '15' } });
    await agentOn('n3');
    await apply(...local('stays', 'n1'), ...local('goes', 'n1', 'n2'));
    await api.until<Pod>(named('goes'), ({ spec }) => spec.nodeName === 'n2', 30);
    await eventually(async () => assert.ok((refusals('stays')[0] ?? 0) >= 4), 60);
    const about = scene.leader?.lines.filter(({ pod }) => pod === `${optedIn}/stays`);
    assert.deepEqual(about, []);
    await setReady(true);
    await api.until<Pod>(named('stays'), ({ spec }) => spec.nodeName === 'n1', promised);
  });
});

suite('a nomination', () => {
  test('is written on the pod that was seen, as it was seen, and on no other', async () => {
    const client = await openCluster(cluster.admin.kubeconfig);
    const pods = '/api/v1/namespaces/default/pods';
    const spec = { schedulerName: 'nobody' };
    const make = async (): Promise<WaitingPod> =>
      pickWaiting(await api.post<ApiWaitingPod>(pods, podOn('by-hand', { namespace: 'default', spec })));
    const write = (pod: WaitingPod) =>
      nominate(client, { pod, node: 'n2', why: '' }, AbortSignal.timeout(10_000));
    const before = await make();
    await cluster.kubectl(['delete', 'pod', 'by-hand']);
    assert.equal((await write(before)).result, 'gone');
    const pod = await make();
    assert.equal((await write(before)).result, 'conflict', 'it is another pod by that name');
    assert.notEqual((await write({ ...pod, uid: before.uid })).result, 'made');
    const written = await write(pod);
    const now = pickWaiting(await api.get<ApiWaitingPod>(`${pods}/by-hand`));
    assert.deepEqual(written, { result: 'made', version: now.version });
    assert.deepEqual(now, { ...pod, nominated: 'n2', version: now.version });
    assert.equal((await write(pod)).result, 'conflict', 'it is another version by now');
    client.close();
  });
});
