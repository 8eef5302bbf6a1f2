import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCode } from '../../validator/shared/contract.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { install } from '../cluster/installed/installation.ts';
import { configure } from './harness/configure.ts';
import { startElsewhere } from './harness/elsewhere.ts';
import { Fleet } from './harness/fleet.ts';
import { History, type PodWrite } from './harness/history.ts';
import { forNodes, primaryChain } from './harness/network.ts';
import { RealNode } from './harness/node.ts';
import { openedAt, type Window, windowOf } from './harness/window.ts';
import { whoAnswersAt } from './harness/workload.ts';
import { gateImages, sandboxImage } from './images/images.ts';
import { chained, installerImage, linkerdCni } from './mesh/daemon-set.ts';

/** How many pods the Deployment has. */
const many = 20;
/** How many seconds after its start linkerd-cni adds its plugin to the chain. Its pod reads Ready from its start. */
const late = 5;
/** For how many seconds a running node's chain lacks the plugin, and how many pods are replaced meanwhile. */
const [fault, few] = [15, 10];
/** How many seconds the kubelet is suspended. After 40 the node becomes NotReady. */
const frozen = 60;

/** Twice the defaults: two boots can be less than a minute apart, and repair may delete all pods after each of them. */
const budgets = { perNodePerMinute: 120, perOwnerPerMinute: 120, perMinute: 240 };
/** The service account of cni-gate. */
const ownAccount = 'system:serviceaccount:cni-gate:cni-gate';

const use = (evidence: 'ready' | 'proof'): Promise<void> =>
  configure(cluster, replicas, { gate: { evidence }, repair: { mode: 'recreate', ...budgets } });

const cluster = await Cluster.start(forNodes);
after(() => cluster.stop());
const elsewhere = await startElsewhere();
after(() => elsewhere.close());
// cni-gate runs on two simulated nodes, so that repair does not have to wait for the node that reboots
const { replicas } = await install(cluster, 'strict');
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
// the other nodes take no pods, as in a cluster whose other nodes are full
for (const other of ['n1', 'n2']) {
  await cluster.api.patch(`/api/v1/nodes/${other}`, { spec: { unschedulable: true } });
}
const images = [...gateImages(), sandboxImage(), installerImage(), Fleet.image];
const node = await RealNode.start(cluster, 'node-1', images);
after(() => node.powerCut());
const history = new History(cluster, node.name);
after(() => history.stop());
const isAgent = (one: PodWrite): boolean => one.namespace === 'linkerd-cni' && one.node === node.name;
await cluster.apply(...linkerdCni(cluster.server, late));
await chained(node);
const shop = new Fleet(cluster, history, 'shop');
await shop.create(node.name, elsewhere.url);
await shop.scale(many);
await shop.running(many);

for (const evidence of ['ready', 'proof'] as const)
  test(`a node reboots, and its plugin is back late (evidence: ${evidence}): all pods run in the mesh`, async () => {
    await use(evidence);
    const boot = await reboot();
    await shop.running(many, boot.known);
    await allInMesh();
    const [deleted] = onlyFailed(boot);
    const first = firstDeletion(boot);
    assert.ok(deleted && first, 'no pod had to be deleted: this shows nothing');
    if (evidence === 'proof') assert.ok(deleted.at >= boot.plugin, 'deleted before the plugin was there');
    else assert.ok(first.version > boot.window.closed, 'deleted before the DaemonSet was Ready');
  });

test(`a DaemonSet reads Ready ${late} s before its plugin works: at most two new pods fail their proofs`, async () => {
  await use('proof');
  await shop.scale(0);
  await shop.running(0);
  // the pods are created once the gate knows of the boot, so that none is bound before
  const boot = await reboot(() => shop.scale(many));
  await shop.running(many, boot.known);
  onlyFailed(boot);
  assert.ok(failedIn(boot).size <= 2, `${failedIn(boot).size} failed`);
});

test(`without a boot, the plugin is out of the chain for ${fault} s while pods are replaced`, async () => {
  await shop.scale(few);
  await shop.running(few);
  const known = shop.proofs();
  const chain = readFileSync(node.chain, 'utf8');
  writeFileSync(node.chain, JSON.stringify(primaryChain));
  await shop.deleteAll();
  await sleep(fault * 1000);
  writeFileSync(node.chain, chain);
  await shop.running(few, known);
  const failed = shop.verdicts(known).get(exitCode.failed)?.size ?? 0;
  assert.ok(failed >= few, `${failed} proofs failed: this shows nothing`);
  await allInMesh();
  await shop.scale(many);
  await shop.running(many);
});

test('a kubelet is suspended until its node is not ready, and resumed: no pod is deleted', async () => {
  const since = Date.now();
  const before = new Set(shop.pods().map(({ uid }) => uid));
  const nodeIs = (ready: boolean): Promise<boolean> =>
    history.until((seen) => seen.nodes.at(-1)?.ready === ready || undefined);
  node.freezeKubelet();
  await nodeIs(false);
  await sleep(since + frozen * 1000 - Date.now());
  node.thawKubelet();
  await nodeIs(true);
  await history.until(() => shop.pods().every(({ ready }) => ready) || undefined);
  // once an additional pod has passed, cni-gate has no pending decisions
  await shop.scale(many + 1);
  await shop.running(many + 1);
  assert.deepEqual(deletionsSince(since), []);
  assert.ok(before.isSubsetOf(new Set(shop.pods().map(({ uid }) => uid))));
});

/** A boot of the node. Times are in milliseconds since 1970. */
interface Boot {
  /** Ids of the proofs of earlier boots. */
  known: Set<string>;
  power: number;
  window: Window;
  /** When the plugin was in the chain. */
  plugin: number;
}

/** Reboots the node, and waits until the plugin is in its chain. */
async function reboot(booted: () => Promise<void> = async () => {}): Promise<Boot> {
  const known = shop.proofs();
  await node.powerCut();
  const power = Date.now();
  const booting = node.boot();
  const windowClosed = history.until((seen) => windowOf(seen, node.bootId, isAgent));
  await history.until((seen) => openedAt(seen, node.bootId));
  await booted();
  await booting;
  await chained(node);
  const plugin = statSync(node.chain).mtimeMs;
  return { known, power, window: await windowClosed, plugin };
}

interface Deletion {
  by: string;
  name: string;
  at: number;
}

/** Successful deletions of pods in the Deployment's namespace since a time, without those by kubelets, in order. */
function deletionsSince(since: number): Deletion[] {
  return cluster
    .audited()
    .filter(
      ({ verb, objectRef, responseStatus }) =>
        verb.startsWith('delete') &&
        objectRef?.resource === 'pods' &&
        objectRef.namespace === shop.namespace &&
        responseStatus?.code === 200,
    )
    .map(({ user, objectRef, requestReceivedTimestamp }) => ({
      by: user.username,
      name: objectRef?.name ?? '',
      at: Date.parse(requestReceivedTimestamp),
    }))
    .filter(({ by, at }) => at >= since && !by.startsWith('system:node:'))
    .toSorted((a, b) => a.at - b.at);
}

const failedIn = ({ known }: Boot): Set<string> => shop.verdicts(known).get(exitCode.failed) ?? new Set();

/** The first version of a pod since the boot that shows that the pod is being deleted. */
const firstDeletion = ({ window }: Boot): PodWrite | undefined =>
  history.pods.find((one) => one.namespace === shop.namespace && one.leaving && one.version > window.opened);

/** The deletions since a boot. Asserts that only cni-gate deleted pods, only failed ones, and none twice. */
function onlyFailed(boot: Boot): Deletion[] {
  const deletions = deletionsSince(boot.power);
  const names = deletions.map(({ name }) => name);
  assert.deepEqual(new Set(deletions.map(({ by }) => by)), new Set(names.length > 0 ? [ownAccount] : []));
  assert.equal(new Set(names).size, names.length, `deleted twice: ${names}`);
  const failed = failedIn(boot);
  const failedNames = new Set(history.pods.filter(({ uid }) => failed.has(uid)).map(({ name }) => name));
  assert.deepEqual(
    names.filter((name) => !failedNames.has(name)),
    [],
  );
  return deletions;
}

/** Asserts that the proxy answers each application's calls to a server outside of its pod. */
async function allInMesh(): Promise<void> {
  for (const { address } of shop.pods()) {
    // the application runs, but may not listen yet
    const answer = await eventually(() => whoAnswersAt(address));
    assert.equal(answer, 'the proxy');
  }
}
