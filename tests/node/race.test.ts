import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exitCode } from '../../validator/shared/contract.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { trusted } from '../cluster/installed/installation.ts';
import { applyWith } from './harness/configure.ts';
import { startElsewhere } from './harness/elsewhere.ts';
import { linesNotPrinted } from './harness/guide.ts';
import { forNodes } from './harness/network.ts';
import { RealNode } from './harness/node.ts';
import { Times } from './harness/times.ts';
import { containersOf, isReady, type Pod, proofOf, Workload, whoAnswers } from './harness/workload.ts';
import { gateImages, sandboxImage } from './images/images.ts';
import { chained, installerImage, linkerdCni } from './mesh/daemon-set.ts';

const reboots = Number(process.env.CNI_GATE_REBOOTS ?? 20);
const repairedReboots = Number(process.env.CNI_GATE_REPAIR_REBOOTS ?? 1);
/** How many seconds after its start linkerd-cni adds its plugin to the chain. */
const late = 5;

/** The network namespace of the first proof after the latest reboot. */
let netnsOfHeld = '';
const times = new Times();
const cluster = await times.take('control plane', Cluster.start(forNodes));
after(() => cluster.stop());
const elsewhere = await startElsewhere();
after(() => elsewhere.close());
// the two workloads differ only in their namespace: `shop` opted in
const shop = new Workload(cluster, 'shop');
const bare = new Workload(cluster, 'bare');
const images = [...gateImages(), sandboxImage(), installerImage(), ...shop.images, ...bare.images];
const node = await times.take('first boot, images unpacked', RealNode.start(cluster, 'node-1', images));
after(() => node.powerCut());
await cluster.apply(...linkerdCni(cluster.server, late));
// without repair until the last test, so that the earlier tests can inspect the failed pod
await applyWith(cluster, { repair: { mode: 'off' } });
await times.take('cni-gate installed', Promise.all([trusted(cluster), rolledOut(), chained(node)]));

test('with the plugin in the chain, a pod is proved, becomes Ready, and its traffic goes to the proxy', async () => {
  await shop.create(elsewhere.url, 'linkerd');
  const pod = await shop.until(isReady);
  assert.equal(verdictOf(pod).verdict, 'passed');
  assert.equal(await whoAnswers(pod), 'the proxy');
  // the last containers are those of this pod, because no other pod was created since the plugin was added
  const [sandbox, validator] = node.starts().slice(-4);
  assert.equal(validator?.id, proofOf(pod)?.id);
  times.add('sandbox to verdict, proved', (Number(validator?.ended) - Number(sandbox?.at)) / 1000);
});

test('the race: the node reboots, and its plugin returns late', async (t) => {
  await bare.create(elsewhere.url);
  await bare.until(isReady);
  for (let count = 1; count <= reboots; count++) {
    await t.test(
      `reboot ${count} of ${reboots}: only the pod without a proof runs, and bypasses the mesh`,
      race,
    );
  }
  for (const line of times.lines()) t.diagnostic(line);
});

test('the failed pod stays in init, in the same sandbox, and kubectl shows what the guide shows', async () => {
  // by now the plugin is in the chain, and the kubelet repeats the proof in the same sandbox
  const again = await shop.until((pod) => proofOf(pod)?.restarts === 2);
  assert.deepEqual(reasonsOf(again), ['not-redirected']);
  assert.equal(verdictOf(again).sandbox.netns, netnsOfHeld);
  const commands = [
    ['get', 'pod'],
    ['describe', 'pod'],
  ];
  const printed = await Promise.all(commands.map((words) => cluster.kubectl(['-n', 'shop', ...words])));
  assert.deepEqual(linesNotPrinted(printed.join('\n')), [], printed.join('\n'));
});

test('after a user deletes the failed pod, its replacement works', async () => {
  assert.equal(await whoAnswers(await shop.remake()), 'the proxy');
});

test('with repair, and cni-gate itself on the node, the pod returns to the mesh without help', async (t) => {
  await applyWith(cluster, { repair: { mode: 'recreate' } });
  await cluster.kubectl(['-n', 'cni-gate', 'rollout', 'restart', 'deployment/cni-gate']);
  await rolledOut();
  for (let count = 1; count <= repairedReboots; count++) {
    await t.test(`reboot ${count} of ${repairedReboots}`, async (one) => {
      const old = await shop.until(isReady);
      await node.powerCut();
      await node.boot();
      await chained(node);
      const plugin = Date.now();
      const back = await shop.until((pod) => pod.metadata.uid !== old.metadata.uid && isReady(pod), 180);
      one.diagnostic(`plugin in the chain to the pod Ready: ${((Date.now() - plugin) / 1000).toFixed(1)} s`);
      assert.equal(await whoAnswers(back), 'the proxy');
    });
  }
});

async function race(): Promise<void> {
  // deletes the pods of an earlier race, as a user would delete a pod whose proof failed
  const before = await times.take('pods recreated', Promise.all([shop.remake(), bare.remake()]));
  for (const pod of before) assert.equal(await whoAnswers(pod), 'the proxy');
  await times.take('power cut', node.powerCut());
  const power = Date.now();
  const sincePower = (what: string, at = Date.now()) => times.add(`power on to ${what}`, (at - power) / 1000);
  await times.take('boot', node.boot());

  const past = await bare.until((pod) => isReady(pod) && containersOf(pod).every(({ id }) => startOf(id)));
  sincePower('a pod without a proof that is Ready');
  await chained(node);
  sincePower('the plugin in the chain');
  assert.equal(await whoAnswers(past), 'elsewhere', 'redirected without a proof: there was no race');

  const held = await shop.until((pod) => startOf(proofOf(pod)?.id));
  netnsOfHeld = verdictOf(held).sandbox.netns;
  const proof = proofOf(held);
  sincePower('the verdict', startOf(proof?.id)?.ended);
  assert.equal(proof?.exitCode, exitCode.failed);
  assert.deepEqual(reasonsOf(held), ['not-redirected']);
  await backedOff(held);
  assert.deepEqual(
    containersOf(held).filter(({ id, running }) => running || startOf(id)),
    [],
  );
  const started = new Set(node.starts().map(({ image }) => image));
  for (const { name } of shop.images) assert.ok(!started.has(name), `${name} was started`);
  // the records do contain the containers that started, so a missing entry means that a container did not start
  for (const { name } of [...gateImages(), ...bare.images])
    assert.ok(started.has(name), `no record of ${name}`);
}

/** Waits until cni-gate's own pods run on the node, from its images. */
function rolledOut(): Promise<string> {
  return cluster.kubectl(['-n', 'cni-gate', 'rollout', 'status', 'deployment/cni-gate', '--timeout=60s']);
}

/** Waits until the kubelet has recorded that it will repeat the failed proof after a pause. */
async function backedOff({ metadata }: Pod): Promise<void> {
  const selector = encodeURIComponent(`involvedObject.uid=${metadata.uid},reason=BackOff`);
  await cluster.api.until(`/api/v1/namespaces/shop/events?fieldSelector=${selector}`, () => true);
}

/** What containerd recorded about a container in this boot of the node. */
function startOf(id: string | undefined) {
  return node.starts().find((start) => start.id === id);
}

interface Verdict {
  verdict: string;
  sandbox: { netns: string };
  checks: { reason?: string }[];
}

function reasonsOf(pod: Pod): (string | undefined)[] {
  return verdictOf(pod).checks.map(({ reason }) => reason);
}

function verdictOf(pod: Pod): Verdict {
  return JSON.parse(proofOf(pod)?.message ?? '{}');
}
