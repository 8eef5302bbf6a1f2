import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { daemonSet, networkNamespace, optedIn, type Pod, setTheScene } from './gate/scene.ts';
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
const agents = new Map<string, Pod>();
for (const name of ['n1', 'n2']) {
  const path = `${podsOf(networkNamespace, 'agent')}&fieldSelector=spec.nodeName%3D${name}`;
  agents.set(name, await api.until<Pod>(path, ({ status }) => status.phase === 'Running'));
}
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
  const name = agents.get('n1')?.metadata.name;
  await api.patch(`/api/v1/namespaces/${networkNamespace}/pods/${name}/status`, { status: { conditions } });
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

/** How often each pod of a Deployment was refused so far, most often first. */
function refusals(name: string): number[] {
  const counts = new Map<string, number>();
  for (const { outcome, webhook, pod } of scene.server.lines) {
    if (outcome !== 'refused' || webhook !== 'gate' || !String(pod).startsWith(`${name}-`)) continue;
    counts.set(String(pod), (counts.get(String(pod)) ?? 0) + 1);
  }
  return [...counts.values()].sort((one, other) => other - one);
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
    t.diagnostic(`${waiting} of ${replicas} wait after 5 refusals of one; ${total(refusals('starving'))} in all`);
    assert.ok(waiting > 0, 'all were bound without anybody nominating a node');
    await gone('starving');
    await scene.configure(['agent']);
  });
});

suite('pods that fit nowhere else', () => {
  /** How many refusals there are in a minute, and for how many pods. */
  async function minuteOf(name: string): Promise<{ refused: number; pods: number; most: number }> {
    await apply(deployment(name, 'DoNotSchedule'));
    await sleep(60_000);
    const counts = refusals(name);
    return { refused: total(counts), pods: counts.length, most: counts[0] ?? 0 };
  }

  test('are not tried more often for being nominated, and are bound once their node is ready', async (t) => {
    await setReady(false);
    await scene.configure(['agent'], 'off');
    const without = await minuteOf('alone');
    await gone('alone');
    await scene.configure(['agent']);
    const nominated = await minuteOf('nominated');
    const lines = (scene.leader?.lines ?? []).filter(({ pod }) => String(pod).includes('/nominated-'));
    t.diagnostic(`without: ${JSON.stringify(without)}; with: ${JSON.stringify(nominated)}; ${lines.map(({ msg }) => msg).join('\n')}`);
    await setReady(true);
    await bound('nominated', promised);
  });
});
