import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { exitCode } from '../../validator/exit-codes.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { startElsewhere } from './harness/elsewhere.ts';
import { startGate } from './harness/gate.ts';
import { RealNode } from './harness/node.ts';
import { Times } from './harness/times.ts';
import { containersOf, isReady, type Pod, proofOf, Workload, whoAnswers } from './harness/workload.ts';
import { gateImage, sandboxImage } from './images/images.ts';
import { chained, installerImage, linkerdCni } from './mesh/daemon-set.ts';

/** How often the race is run. */
const reboots = Number(process.env.CNI_GATE_REBOOTS ?? 20);
/** How long after its start linkerd-cni puts its plugin into the chain, in seconds. */
const late = 5;

const times = new Times();
const cluster = await times.take('control plane', Cluster.start({ nodeLifecycle: 40 }));
after(() => cluster.stop());
const elsewhere = await startElsewhere();
after(() => elsewhere.close());
const gate = await startGate(cluster);
after(() => gate.end());
// they differ in their namespace only: one opted in
const gated = new Workload(cluster, 'gated');
const bare = new Workload(cluster, 'bare');
const images = [gateImage(), sandboxImage(), installerImage(), ...gated.images, ...bare.images];
const node = await times.take('first boot, images unpacked', RealNode.start(cluster, 'node-1', images));
after(() => node.powerCut());
await cluster.kubectl(['apply', '-f', '-'], { input: linkerdCni(cluster.server, late) });
await chained(node);

test('with the plugin in the chain a pod is proved, becomes Ready, and what it sends goes to the proxy', async () => {
  await gated.create(elsewhere.url, 'linkerd');
  const pod = await gated.until(isReady);
  assert.equal(verdictOf(pod).verdict, 'proved');
  assert.equal(await whoAnswers(pod), 'the proxy');
  // the only pod that was made since the plugin is there
  const [sandbox, validator] = node.starts().slice(-4);
  assert.equal(validator?.id, proofOf(pod)?.id);
  times.add('sandbox to verdict, proved', (Number(validator?.ended) - Number(sandbox?.at)) / 1000);
});

test('the race: the node reboots, and its plugin is back late', async (t) => {
  await bare.create(elsewhere.url);
  await bare.until(isReady);
  for (let count = 1; count <= reboots; count++) {
    await t.test(`reboot ${count} of ${reboots}: only the pod without a proof runs, past the mesh`, race);
  }
  for (const line of times.lines()) t.diagnostic(line);
});

async function race(): Promise<void> {
  // those of the race before: deleting by hand is what helps
  const before = await times.take('pods made again', Promise.all([gated.remake(), bare.remake()]));
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

  const held = await gated.until((pod) => startOf(proofOf(pod)?.id));
  const proof = proofOf(held);
  sincePower('the verdict', startOf(proof?.id)?.ended);
  assert.equal(proof?.exitCode, exitCode.failed);
  assert.deepEqual(
    verdictOf(held).checks.map(({ reason }) => reason),
    ['not-redirected'],
  );
  assert.deepEqual(
    containersOf(held).filter(({ id, running }) => running || startOf(id)),
    [],
  );
  const started = new Set(node.starts().map(({ image }) => image));
  for (const { name } of gated.images) assert.ok(!started.has(name), `${name} was started`);
  // the same records tell of containers that did start
  for (const { name } of [gateImage(), ...bare.images]) assert.ok(started.has(name), `no record of ${name}`);
}

/** What containerd recorded of a container in this boot of the node. */
function startOf(id: string | undefined) {
  return node.starts().find((start) => start.id === id);
}

interface Verdict {
  verdict: string;
  sandbox: { netns: string };
  checks: { reason?: string }[];
}

/** What the validator left in the pod's status. */
function verdictOf(pod: Pod): Verdict {
  return JSON.parse(proofOf(pod)?.message ?? '{}');
}
