import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiPod } from '../../webhook/core/facts/api.ts';
import { toPendingPod } from '../../webhook/core/facts/pending-pod.ts';
import { daemonSet, onNode, optedIn, sceneIn } from './gate/scene.ts';
import { podsOf, scheduled, stepsIn } from './gate/steps.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { decide, type Fate, ours, type Pod } from './repair/kubelet.ts';

const cluster = await startCluster();
const { api } = cluster;
const scene = await sceneIn(cluster);
const { agentOn, apply } = stepsIn(cluster);

await addNode(cluster, 'n1');
await apply(daemonSet('agent'));
await agentOn('n1');
await scene.configure(['agent'], 'nominate', 'proof');

// the test writes the status of these pods, as a kubelet would
const heldIn = { namespace: optedIn, ...ours };

const make = (names: string[], node = 'n1'): Promise<string> =>
  apply(...names.map((name) => pod(name, onNode(node), heldIn)));

/** The pods whose names begin with `prefix`: those bound to a node, or those not bound. */
async function placed(prefix: string, isBound = true): Promise<Pod[]> {
  const { items } = await api.get<{ items: Pod[] }>(podsOf(optedIn));
  return items.filter(
    ({ metadata, spec }) => metadata.name.startsWith(prefix) && (spec.nodeName !== undefined) === isBound,
  );
}

const areBound = (prefix: string, count: number, seconds = 30): Promise<Pod[]> =>
  eventually(async () => {
    const pods = await placed(prefix);
    assert.equal(pods.length, count, pods.map(({ metadata }) => metadata.name).join(' '));
    return pods;
  }, seconds);

async function becomes(prefix: string, fate: Fate): Promise<Pod> {
  const [one] = await areBound(prefix, 1);
  assert.ok(one);
  await decide(cluster, one, fate);
  return one;
}

const refusals = async (prefix: string): Promise<string[]> =>
  (await placed(prefix, false)).map((one) => scheduled(one)?.message ?? '');

const deleteAll = async (): Promise<unknown> =>
  cluster.kubectl(['delete', 'pods', '-n', optedIn, '--all', '--grace-period=0', '--force']);

suite('the gate with evidence: proof, on a real control plane', () => {
  test('one of several pods is bound to a new node; the others follow when it has passed', async () => {
    const names = ['new-1', 'new-2', 'new-3', 'new-4'];
    await make(names);
    const first = await becomes('new-', 'starting');
    await eventually(async () => {
      const texts = await refusals('new-');
      const text =
        /node n1 is not ready for profile mesh: DaemonSet net\/agent is unproved there \(pod agent-\w+\): no pod has proved its network there yet \(CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=unproved\)$/;
      for (const one of texts) assert.match(one, text);
      assert.equal(texts.length, 3);
    });
    await sleep(7000);
    assert.equal((await placed('new-')).length, 1, 'the verdict is not there yet');
    await decide(cluster, first, 'passed');
    await areBound('new-', 4);
    await deleteAll();
  });

  test('pods that waited for a new node are held for gate.maxHold from their first refusal', async () => {
    const seconds = 8;
    await scene.configure(['agent'], 'off', 'proof', `${seconds}s`);
    const names = ['early-1', 'early-2', 'early-3'];
    await make(names, 'late');
    await eventually(async () => {
      const texts = await refusals('early-');
      assert.equal(texts.filter((text) => text.includes('nodes are available')).length, 3);
    });
    await sleep((seconds + 1) * 1000);
    await addNode(cluster, 'late');
    const added = Date.now();
    await agentOn('late');
    // other replicas read the start of the hold from the pod's status (not the time when it became Pending)
    await eventually(async () => {
      const { items } = await api.get<{ items: ApiPod[] }>(podsOf(optedIn));
      const held = items.map(toPendingPod).find(({ refused }) => refused === 'late');
      assert.ok((held?.heldSince ?? 0) >= added - 1000, 'no pod is refused yet');
    });
    await areBound('early-', 3, 60);
    // the log lines of the process arrive a moment later
    await eventually(async () => {
      const released = names.filter((name) => {
        const answers = scene.server.lines.filter((line) => line.webhook === 'gate' && line.pod === name);
        const refused = answers.filter(({ outcome }) => outcome === 'refused');
        const last = answers.at(-1);
        const held = Date.parse(String(last?.time)) - Date.parse(String(refused[0]?.time));
        const told = `${name}: ${answers.map(({ time, outcome, reason }) => `${time} ${outcome} ${reason}`)}`;
        assert.ok(['allowed', 'released'].includes(String(last?.outcome)), told);
        if (last?.outcome === 'released') assert.ok(refused.length > 1 && held > seconds * 1000, told);
        return last?.outcome === 'released';
      });
      // the gate allows one of the three pods, to find out whether the network works, and releases the other two
      assert.equal(released.length, 2);
    });
    await deleteAll();
  });

  test('a replica that starts counts a node with a passed pod as proved', async () => {
    await scene.configure(['agent'], 'nominate', 'proof');
    await make(['old-1']);
    await becomes('old-', 'passed');
    await scene.server.end();
    const next = await sceneIn(cluster, { host: '10.254.3.9' });
    await next.configure(['agent'], 'nominate', 'proof');
    await make(['more-1', 'more-2', 'more-3']);
    await areBound('more-', 3);
  });
});
