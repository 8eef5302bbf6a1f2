import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { daemonSet, optedIn, podOn, sceneIn } from './gate/scene.ts';
import { stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';
import { bound, counted, crowd, placed, type Refused, refusals, replicas } from './steer/crowd.ts';

const cluster = await startCluster();
// the replica that leads gets no admission calls, so it knows only what it reads from the API server
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

const gone = (name: string): Promise<string> =>
  cluster.kubectl(['delete', 'deployment', '-n', optedIn, name, '--cascade=foreground', '--wait']);

suite('refused pods', () => {
  test('are bound to the ready node, after two refusals at most', async (t) => {
    const began = performance.now();
    await apply(crowd('steered', 'ScheduleAnyway'));
    await bound(cluster, 'steered', promised);
    const took = (performance.now() - began) / 1000;
    const found = counted(refusals(scene, 'steered'));
    t.diagnostic(`bound after ${took.toFixed(1)} s; refusals: ${JSON.stringify(found)}`);
    assert.deepEqual([...new Set(await placed(cluster, 'steered'))], ['n2']);
    assert.ok(found.total > 0, 'nothing was refused, so the test shows nothing');
    assert.ok(found.max <= 2, `a pod was refused ${found.max} times`);
    await gone('steered');
  });

  test('starve beside a ready node if steering is off', async (t) => {
    await scene.configure(['agent'], 'off');
    await apply(crowd('starving', 'ScheduleAnyway'));
    // five refusals of one pod take the scheduler about 20 s
    await eventually(async () => assert.ok(counted(refusals(scene, 'starving')).max >= 5), 90);
    const waiting = replicas - (await placed(cluster, 'starving')).length;
    const found = counted(refusals(scene, 'starving'));
    t.diagnostic(`${waiting} of ${replicas} wait; refusals: ${JSON.stringify(found)}`);
    assert.ok(waiting > 0, 'all were bound without a nomination');
    await gone('starving');
    await scene.configure(['agent']);
  });
});

test('refused pods that fit nowhere else are not tried more often, and are bound once their node is ready', async (t) => {
  const name = 'nominated';
  await apply(crowd(name, 'DoNotSchedule'));
  await eventually(async () => {
    const times = refusals(scene, name).flatMap(({ times }) => times);
    assert.ok(Math.max(...times) - Math.min(...times) > minute, 'less than a minute of refusals');
  }, 120);
  const inAMinute = refusals(scene, name).map(({ pod, times: [first = 0, ...later] }) => ({
    pod,
    times: [first, ...later.filter((time) => time - first < minute)],
  }));
  const made = scene.leader?.lines.filter(({ pod, why }) => why && String(pod).includes(`/${name}-`)) ?? [];
  const isNominated = ({ pod }: Refused): boolean => made.some((line) => line.pod === `${optedIn}/${pod}`);
  const nominated = counted(inAMinute.filter(isNominated));
  const others = counted(inAMinute.filter((one) => !isNominated(one)));
  t.diagnostic(`${made.length} nominations; ${JSON.stringify({ nominated, others })}`);
  // one try, then pauses of 10, 20 and 40 s. Each try may be repeated once if it raced with a scheduling attempt
  assert.ok(made.length <= 10, `${made.length} nominations that come to nothing`);
  // pods without a nomination are retried by the scheduler's back-off alone, and serve as the comparison
  assert.ok(nominated.max <= others.max + 1, `${nominated.max} refusals of one, ${others.max} of others`);
  const each = (one: ReturnType<typeof counted>): number => one.total / one.pods;
  const all = each(counted(inAMinute));
  assert.ok(all < each(others) + 1, `${all} refusals of each, ${each(others)} without a nomination`);
  await setReady(agent, true);
  await bound(cluster, name, promised);
});
