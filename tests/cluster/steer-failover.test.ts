import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSet, podOn, sceneIn } from './gate/scene.ts';
import { stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';
import { bound, counted, crowd, placed, refusals, replicas } from './steer/crowd.ts';

const cluster = await startCluster();
const scene = await sceneIn(cluster, { host: '10.254.4.5', leader: '10.254.4.6' });
const { agentOn, apply, setReady } = stepsIn(cluster);

/** How many seconds binding may take after the failover. The scheduler retries a refused pod every 11 s by then. */
const patience = 30;

for (const name of ['n1', 'n2']) await addNode(cluster, name, { capacity: { cpu: '20' } });
await apply(daemonSet('agent'));
for (const name of ['n1', 'n2']) await setReady(await agentOn(name), false);
// uses 85 % of the CPU of n2, so that the scheduler prefers n1
const max = [{ name: 'filler', image: 'none', resources: { requests: { cpu: '17' } } }];
await apply(podOn('filler', { namespace: 'default', spec: { nodeName: 'n2', containers: max } }));

const nominations = (lines: Record<string, unknown>[] = []) =>
  lines.filter(({ pod, why }) => why && String(pod).includes('/held-'));

test('the leader is killed while pods are held: the other replica leads and steers them', async (t) => {
  await apply(crowd('held', 'ScheduleAnyway'));
  await eventually(async () => assert.equal(counted(refusals(scene, 'held')).pods, replicas), 60);
  await scene.leader?.end('SIGKILL');
  const killed = performance.now();
  await setReady(await agentOn('n2'), true);
  const leads = ({ msg }: Record<string, unknown>): boolean => msg === 'this replica leads';
  // the other replica leads once the Lease of the killed leader has expired
  await eventually(async () => assert.ok(scene.server.lines.some(leads), 'there is no leader'), 60);
  const led = performance.now();
  await eventually(async () => assert.ok(nominations(scene.server.lines).length > 0, 'no nomination'), 10);
  const nominated = performance.now();
  await bound(cluster, 'held', patience);
  const seconds = (from: number, to = performance.now()): string => `${((to - from) / 1000).toFixed(1)} s`;
  t.diagnostic(
    `it leads ${seconds(killed, led)} after the kill, nominates ${seconds(led, nominated)} later, and all are bound ${seconds(nominated)} after that`,
  );
  assert.deepEqual([...new Set(await placed(cluster, 'held'))], ['n2']);
  assert.deepEqual(nominations(scene.leader?.lines), [], 'there was nothing to nominate before');
});
