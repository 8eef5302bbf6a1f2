import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { daemonSet, optedIn, podOn, setTheScene } from './gate/scene.ts';
import { stepsIn } from './gate/steps.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { bound, counted, crowd, placed, refusals, replicas } from './steer/crowd.ts';

const cluster = await Cluster.start();
after(() => cluster.stop());
// the replica that leads gets no call: what it knows, it has from the cluster
const scene = await setTheScene(cluster, { host: '10.254.4.1', leader: '10.254.4.2' });
after(() => scene.server.end());
after(() => scene.leader?.end());
const { agentOn, apply, setReady } = stepsIn(cluster);

/** What is promised: pods that fit a ready node are bound so many seconds after they were made. */
const promised = 15;
const minute = 60_000;

for (const name of ['n1', 'n2']) await addNode(cluster, name, { capacity: { cpu: '20' } });
await apply(daemonSet('agent'));
await agentOn('n2');
const agent = await agentOn('n1');
await setReady(agent, false);
// 85 % of n2, by a pod that is nobody's business
const max = [{ name: 'filler', image: 'none', resources: { requests: { cpu: '17' } } }];
await apply(podOn('filler', { namespace: 'default', spec: { nodeName: 'n2', containers: max } }));

const gone = (name: string): Promise<string> =>
  cluster.kubectl(['delete', 'deployment', '-n', optedIn, name, '--cascade=foreground', '--wait']);

suite('pods that were refused', () => {
  test('are bound to the node that is ready, after two refusals at most', async (t) => {
    const began = performance.now();
    await apply(crowd('steered', 'ScheduleAnyway'));
    await bound(cluster, 'steered', promised);
    const took = (performance.now() - began) / 1000;
    const found = counted(refusals(scene, 'steered'));
    t.diagnostic(`bound after ${took.toFixed(1)} s; refusals: ${JSON.stringify(found)}`);
    assert.deepEqual([...new Set(await placed(cluster, 'steered'))], ['n2']);
    assert.ok(found.total > 0, 'nothing was refused, so nothing was shown');
    assert.ok(found.max <= 2, `a pod was refused ${found.max} times`);
    await gone('steered');
  });

  test('starve beside a node that is ready where nobody nominates it', async (t) => {
    await scene.configure(['agent'], 'off');
    await apply(crowd('starving', 'ScheduleAnyway'));
    // by then the scheduler has tried for about 20 s
    await eventually(async () => assert.ok(counted(refusals(scene, 'starving')).max >= 5), 90);
    const waiting = replicas - (await placed(cluster, 'starving')).length;
    const found = counted(refusals(scene, 'starving'));
    t.diagnostic(`${waiting} of ${replicas} wait; refusals: ${JSON.stringify(found)}`);
    assert.ok(waiting > 0, 'all were bound without anybody nominating a node');
    await gone('starving');
    await scene.configure(['agent']);
  });
});

suite('pods that fit nowhere else', () => {
  /** The refusals of a minute: of each pod in the minute after its first. */
  async function aMinuteOf(name: string): Promise<ReturnType<typeof counted>> {
    await apply(crowd(name, 'DoNotSchedule'));
    await eventually(async () => {
      const times = refusals(scene, name).flat();
      assert.ok(Math.max(...times) - Math.min(...times) > minute, 'the minute is not over');
    }, 120);
    const times = refusals(scene, name);
    return counted(times.map((some) => some.filter((time) => time - (some[0] ?? 0) < minute)));
  }

  test('are not tried more often for being nominated, and are bound once their node is ready', async (t) => {
    await scene.configure(['agent'], 'off');
    const without = await aMinuteOf('alone');
    await gone('alone');
    await scene.configure(['agent']);
    const steered = await aMinuteOf('nominated');
    const made =
      scene.leader?.lines.filter(({ pod, why }) => why && String(pod).includes('/nominated-')) ?? [];
    t.diagnostic(
      `refusals without: ${JSON.stringify(without)}, with ${made.length} nominations: ${JSON.stringify(steered)}`,
    );
    // so nothing that the scheduler sees is other than without; what is left is chance, as to how many of them wait
    assert.deepEqual(made, [], 'a nomination that comes to nothing');
    assert.ok(steered.max <= without.max, `${steered.max} refusals of one, ${without.max} without`);
    const each = (one: ReturnType<typeof counted>): number => one.total / one.pods;
    assert.ok(
      each(steered) <= each(without) * 1.1,
      `${each(steered)} refusals of each, ${each(without)} without`,
    );
    await setReady(agent, true);
    await bound(cluster, 'nominated', promised);
  });
});
