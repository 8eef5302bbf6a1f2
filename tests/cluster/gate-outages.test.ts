import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { daemonSet, sceneIn } from './gate/scene.ts';
import { stepsIn } from './gate/steps.ts';
import { accessWith } from './harness/access.ts';
import { compact } from './harness/etcd.ts';
import { addNode } from './harness/nodes.ts';
import { startCluster } from './harness/start.ts';
import { SwallowingProxy } from './harness/swallowing-proxy.ts';

/** Within this many seconds after an outage, the gate has to know which nodes are ready. */
const promised = 30;

const cluster = await startCluster();
const { components } = cluster;
const proxy = await SwallowingProxy.to(cluster.server.url);
after(() => proxy.close());
const through = { url: proxy.url, authority: cluster.server.authority };
const { credentials } = cluster.admin;
const { kubeconfig } = accessWith(through, join(cluster.folder, 'gate.kubeconfig'), credentials);
const scene = await sceneIn(cluster, { host: '10.254.3.2', kubeconfig });
const scenes = [scene];
const { agentOn, apply, says, setReady, until } = stepsIn(cluster);

await addNode(cluster, 'n1');
await apply(daemonSet('agent'));
const agent = await agentOn('n1');
let boot = 1;
const container = (): string => `containerd://boot-${boot}`;
await setReady(agent, true, container());
await until('allowed', 'n1', 'before');

/** Gives n1 a new boot ID, as a reboot does. The agent's pod stays Ready, with the containers of the old boot. */
const reboot = (): Promise<unknown> =>
  cluster.api.patch('/api/v1/nodes/n1/status', { status: { nodeInfo: { bootID: `boot-${boot + 1}` } } });

/** Acts as the kubelet of n1 after a reboot: the agent is Ready with a new container. */
async function comeBack(): Promise<void> {
  boot += 1;
  await setReady(agent, true, container());
}

suite('readiness after an outage', () => {
  test('API server down for half a minute: a change after its return is known in time', async () => {
    await components['kube-apiserver'].stop();
    // after about 8 s, the pauses between an informer's attempts have reached their maximum, which is also 8 s
    await sleep(30_000);
    await components['kube-apiserver'].start();
    await setReady(agent, false, container());
    await says('refused', 'n1', promised);
    await setReady(agent, true, container());
    await says('allowed', 'n1', promised);
  });

  test('a network drops all bytes, and watches then get 410: a reboot during the outage is detected', async () => {
    proxy.swallow();
    await reboot();
    await sleep(5000);
    await components['kube-apiserver'].stop();
    await compact(cluster);
    await components['kube-apiserver'].start();
    proxy.recover();
    await says('refused', 'n1', promised);
    await comeBack();
    await says('allowed', 'n1', promised);
  });

  test('a reboot that ends before the outage ends: no pod is held', async () => {
    proxy.swallow();
    await reboot();
    await setReady(agent, false, container());
    await comeBack();
    // a kubelet writes its Node regularly, so the Node's last write is later than the start of the new container
    await cluster.api.patch('/api/v1/nodes/n1', { metadata: { annotations: { written: 'later' } } });
    await components['kube-apiserver'].stop();
    await compact(cluster);
    await components['kube-apiserver'].start();
    proxy.recover();
    await says('allowed', 'n1', promised);
  });

  test('a replica that starts while the node is not ready refuses pods, and detects the next reboot', async () => {
    await setReady(agent, false, container());
    await scene.server.end('SIGKILL');
    scenes.push(await sceneIn(cluster, { host: '10.254.3.3', kubeconfig }));
    await says('refused', 'n1', promised);
    await setReady(agent, true, container());
    await says('allowed', 'n1', promised);
    await reboot();
    await says('refused', 'n1', promised);
  });

  test('every refusal was for the state of the node, and none because the state was unknown', () => {
    const refused = scenes
      .flatMap(({ server }) => server.lines)
      .filter(({ webhook, outcome }) => webhook === 'gate' && outcome === 'refused');
    const reasons = new Set(refused.map(({ reason }) => reason));
    assert.ok(reasons.has('rebooted') && reasons.has('starting'));
    assert.ok(reasons.isSubsetOf(new Set(['broken', 'rebooted', 'starting'])), [...reasons].join());
  });
});
