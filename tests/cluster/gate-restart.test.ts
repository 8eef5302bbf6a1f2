import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel } from '../../webhook/lib/names.ts';
import { configuration, daemonSet, networkNamespace, optedIn, podOn } from './gate/scene.ts';
import { podsOf, stepsIn } from './gate/steps.ts';
import { startCluster } from './harness/start.ts';
import { install } from './installed/installation.ts';
import { type RunningPod, startPod } from './installed/pod.ts';
import { makeNamespace } from './installed/working.ts';

/** After a restart, the gate has to know again within this many seconds which nodes are ready. */
const promised = 30;

const cluster = await startCluster();
const { agentOn, apply, says, setReady } = stepsIn(cluster);
let { replicas } = await install(cluster, 'strict', async () => {
  const data = { 'config.yaml': configuration(['agent'], 'nominate') };
  const metadata = { namespace: 'cni-gate', name: 'cni-gate' };
  await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
});
const all = [...replicas];
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

await makeNamespace(cluster, networkNamespace);
await makeNamespace(cluster, optedIn, { [profileLabel]: 'mesh' });
await apply(daemonSet('agent'));
const agent = await agentOn('n1');
let boot = 1;
const container = (): string => `containerd://boot-${boot}`;
await setReady(await agentOn('n2'), true, container());
await setReady(agent, true, container());
await says('allowed', 'n1', promised);

/** Gives n1 a new boot ID, as a reboot does. Its agent still reads Ready with the containers from before the reboot. */
const reboot = (): Promise<unknown> =>
  cluster.api.patch('/api/v1/nodes/n1/status', { status: { nodeInfo: { bootID: `boot-${boot + 1}` } } });

/** Acts as the kubelet of n1: the agent is not Ready at first, and Ready with a new container later. */
async function recover(): Promise<void> {
  boot += 1;
  await setReady(agent, false, container());
  await says('refused', 'n1', promised);
  await setReady(agent, true, container());
  await says('allowed', 'n1', promised);
}

const kill = (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.end('SIGKILL')));

async function startAgain(): Promise<void> {
  replicas = await Promise.all(replicas.map(({ pod }: RunningPod) => startPod(cluster, pod)));
  all.push(...replicas);
}

/** Requests a binding to n2, which is always ready, until the signal. Each is a dry run, so the pod is never bound. */
async function askAboutReady(signal: AbortSignal): Promise<{ asked: number; refused: string[] }> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n2' };
  const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: witness, namespace: optedIn }, target };
  const found = { asked: 0, refused: [] as string[] };
  while (!signal.aborted) {
    await cluster.api
      .post(`${podsOf(optedIn)}/${witness}/binding?dryRun=All`, body)
      .catch((error) => found.refused.push(String(error)));
    found.asked += 1;
    // about 50 requests per second
    await sleep(20);
  }
  return found;
}

const witness = 'witness';
// created while a replica still answers, because the API server refuses pods while no replica answers
await apply(podOn(witness, { spec: { schedulerName: 'nobody' } }));
const stop = new AbortController();
const asking = askAboutReady(stop.signal);

suite('both replicas restarted while a node is rebooted', () => {
  test('they are down while it boots: readiness is right once they and the kubelet are back', async () => {
    await kill();
    await reboot();
    await startAgain();
    await recover();
  });

  test('they are back before it boots: the new replicas see the reboot', async () => {
    await kill();
    await startAgain();
    await says('allowed', 'n1', promised);
    await reboot();
    await says('refused', 'n1', promised);
    await recover();
  });

  test('they are killed while it is not ready: readiness is right again once the kubelet is back', async () => {
    await reboot();
    await says('refused', 'n1', promised);
    await kill();
    await startAgain();
    await recover();
  });

  test('no pod was refused for lack of knowledge, and the ready node always got pods', async (t) => {
    stop.abort();
    const { asked, refused } = await asking;
    assert.deepEqual(refused, []);
    const answers = all.flatMap(({ lines }) => lines).filter(({ webhook }) => webhook === 'gate');
    const unknown = answers.filter(({ outcome }) => outcome === 'unknown').map(({ reason }) => reason);
    t.diagnostic(
      `${asked} asked, ${answers.length} answered, not known then: ${unknown.join(', ') || 'none'}`,
    );
    // the API server allows a binding if the gate does not answer
    assert.ok(
      answers.filter(({ node }) => node === 'n2').length < asked,
      'no pod was bound while they were down',
    );
    const reasons = new Set(
      answers.filter(({ outcome }) => outcome === 'refused').map(({ reason }) => reason),
    );
    assert.deepEqual([...reasons].sort(), ['rebooted', 'starting']);
  });
});
