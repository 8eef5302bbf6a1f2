import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventReasons, eventReporter } from '../../webhook/lib/names.ts';
import {
  accountOfManifests,
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
import type { GateServer } from './harness/server.ts';
import { startCluster } from './harness/start.ts';

/** An event as kubectl reads it. */
interface Event {
  type: string;
  reason: string;
  message: string;
  reportingComponent: string;
  reportingInstance: string;
  involvedObject: { kind: string; name: string; uid: string };
  related?: { kind: string; name: string };
}

const cluster = await startCluster();
const { api } = cluster;
const kubeconfig = await accountOfManifests(cluster);
const scene = await sceneIn(cluster, { host: '10.254.4.7', leader: '10.254.4.8', kubeconfig });
const { agentOn, apply, named } = stepsIn(cluster);
const { nominated, heldForLong } = eventReasons;

// the scheduler takes the emptiest, n1
for (const [name, cpu] of Object.entries({ n1: '40', n2: '10' }))
  await addNode(cluster, name, { capacity: { cpu } });
await apply(daemonSet('agent'));
await agentOn('n2');
const agent = await agentOn('n1');
const minutesAgo = (minutes: number): string =>
  new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d{3}/, '');
// no test has to wait for it to be old
await api.patch(`${podsOf(networkNamespace)}/${agent.metadata.name}/status`, {
  status: { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: minutesAgo(60) }] },
});

const eventsOn = (pod: string, reason: string): string =>
  `/api/v1/namespaces/${optedIn}/events?fieldSelector=involvedObject.name%3D${pod},reason%3D${reason}`;

const describe = (pod: string): Promise<string> => cluster.kubectl(['describe', 'pod', '-n', optedIn, pod]);

/** A pod that the scheduler was refused for n1, and as if that had been some minutes ago. */
async function heldFor(minutes: number, name: string): Promise<void> {
  await apply(podOn(name, { spec: onNode('n1') }));
  const isHeld = (pod: Pod): boolean => scheduled(pod)?.message?.includes('denied') ?? false;
  const { status } = await api.until<Pod>(named(optedIn, name), isHeld);
  const conditions = status.conditions?.map((one) =>
    one.type === 'PodScheduled' ? { ...one, lastTransitionTime: minutesAgo(minutes) } : one,
  );
  await api.patch(`${podsOf(optedIn)}/${name}/status`, { status: { conditions } });
}

/** The events on long holds of a replica, by result. */
async function reported({ host, opsPort }: GateServer): Promise<Record<string, number>> {
  const text = await (await fetch(`http://${host}:${opsPort}/metrics`)).text();
  const found = text.matchAll(/^cni_gate_events_total\{reason="HeldForLong",result="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, result, count]) => [result, Number(count)]));
}

suite('events on a held pod', () => {
  test('NodeNominated names the node and the reason, and kubectl describe shows it', async () => {
    await apply(podOn('goes', { spec: { containers: [{ name: 'web', image: 'none' }] } }));
    const { metadata } = await api.until<Pod>(
      named(optedIn, 'goes'),
      ({ spec }) => spec.nodeName === 'n2',
      30,
    );
    const event = await api.until<Event>(eventsOn('goes', nominated), () => true, 10);
    assert.deepEqual(
      [
        event.type,
        event.reportingComponent,
        event.involvedObject.kind,
        event.involvedObject.uid,
        event.related,
      ],
      ['Normal', eventReporter, 'Pod', metadata.uid, { apiVersion: 'v1', kind: 'Node', name: 'n2' }],
    );
    assert.notEqual(event.reportingInstance, '');
    assert.match(
      event.message,
      /^node n2 is nominated, after node n1 was refused: it is ready for mesh and has free capacity$/,
    );
    assert.match(
      await describe('goes'),
      /\n {2}Normal +NodeNominated +\d+s +cni-gate\.io\/leader +node n2 is nominated, after node n1 was refused/,
    );
  });

  test('HeldForLong is also written if steering is off', async () => {
    await scene.configure(['agent'], 'off');
    await heldFor(3, 'unsteered');
    const { message } = await api.until<Event>(eventsOn('unsteered', heldForLong), () => true, 20);
    assert.match(message, / No other node is nominated: steer\.mode is off\. Look at /);
    await scene.configure(['agent']);
    await api.delete(`${podsOf(optedIn)}/unsteered`);
  });

  test('HeldForLong says what the pod waits for and where to look, and the next leader does not repeat it', async () => {
    await heldFor(3, 'stays');
    const event = await api.until<Event>(eventsOn('stays', heldForLong), () => true, 20);
    assert.deepEqual([event.type, event.reportingComponent], ['Warning', eventReporter]);
    assert.match(
      event.message,
      /^waiting since \S+Z: node n1 is not ready for profile mesh: DaemonSet net\/agent is starting there since /,
    );
    const { name } = agent.metadata;
    assert.ok(event.message.includes(`Look at "kubectl describe pod -n net ${name}" and "cni-gate status"`));
    assert.match(
      await describe('stays'),
      /\n {2}Warning +HeldForLong +\d+s +cni-gate\.io\/leader +waiting since /,
    );
    const { server, leader } = scene;
    assert.ok(leader);
    await eventually(async () => assert.deepEqual(await reported(leader), { written: 2 }));
    assert.deepEqual(await reported(server), {}, 'only the leader writes events');
    await leader.end();
    await eventually(async () => assert.deepEqual(await reported(server), { exists: 1 }));
    const { items } = await api.get<{ items: Event[] }>(eventsOn('stays', heldForLong));
    assert.equal(items.length, 1);
  });

  test('not for long, nothing is told but what the scheduler says', async () => {
    await heldFor(1, 'young');
    // it is looked at in the same turn
    await heldFor(3, 'old');
    await api.until<Event>(eventsOn('old', heldForLong), () => true, 20);
    const { items } = await api.get<{ items: Event[] }>(eventsOn('young', heldForLong));
    assert.deepEqual(items, []);
  });
});
