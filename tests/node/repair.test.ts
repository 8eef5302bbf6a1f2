import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCode } from '../../validator/shared/contract.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { ownMetric } from '../cluster/harness/metrics.ts';
import { install } from '../cluster/installed/installation.ts';
import { configure } from './harness/configure.ts';
import { type Deletion, deletionsIn, ownAccount } from './harness/deletions.ts';
import { startElsewhere } from './harness/elsewhere.ts';
import { Fleet } from './harness/fleet.ts';
import { History, type PodWrite } from './harness/history.ts';
import { forNodes, primaryChain } from './harness/network.ts';
import { RealNode } from './harness/node.ts';
import { Times } from './harness/times.ts';
import { openedAt, type Window, windowOf } from './harness/window.ts';
import { whoAnswersAt } from './harness/workload.ts';
import { gateImages, sandboxImage } from './images/images.ts';
import { chained, installerImage, linkerdCni } from './mesh/daemon-set.ts';

const reboots = Number(process.env.CNI_GATE_REPAIR_REBOOTS ?? 1);
const many = Number(process.env.CNI_GATE_REPAIR_PODS ?? 20);
/** How many seconds after its start linkerd-cni adds its plugin to the chain. Its pod is Ready as soon as it starts. */
const late = 5;
/** For how many seconds a running node's chain lacks the plugin, and how many pods are replaced meanwhile. */
const [fault, few] = [15, 10];
/** How many rounds are needed for a median. */
const enough = 3;
/** How many seconds the kubelet is suspended. After 40 s, the node becomes NotReady. */
const frozen = 60;

const evidences = ['ready', 'proof'] as const;
type Evidence = (typeof evidences)[number];
/** Twice the defaults: two boots can be less than a minute apart, and repair may delete all pods after each of them. */
const budgets = { perNodePerMinute: 120, perOwnerPerMinute: 120, perMinute: 240 };
const settings = (evidence: Evidence, mode: 'off' | 'recreate'): object => ({
  gate: { evidence },
  repair: { mode, ...budgets },
});

const times = new Times();
const cluster = await times.take('control plane', Cluster.start(forNodes));
after(() => cluster.stop());
const elsewhere = await startElsewhere();
after(() => elsewhere.close());
// cni-gate runs on two simulated nodes, so that repair does not have to wait for the node that reboots
const { replicas } = await times.take('cni-gate installed', install(cluster, 'strict'));
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
// the other nodes take no pods, as in a cluster whose other nodes are full
for (const other of ['n1', 'n2']) {
  await cluster.api.patch(`/api/v1/nodes/${other}`, { spec: { unschedulable: true } });
}
const images = [...gateImages(), sandboxImage(), installerImage(), Fleet.image];
const node = await times.take('first boot, images unpacked', RealNode.start(cluster, 'node-1', images));
after(() => node.powerCut());
const history = new History(cluster, node.name);
after(() => history.stop());
const isAgent = (one: PodWrite): boolean => one.namespace === 'linkerd-cni' && one.node === node.name;
await cluster.apply(...linkerdCni(cluster.server, late));
await chained(node);
const shop = new Fleet(cluster, history, 'shop');
await shop.create(node.name, elsewhere.url);
await shop.scale(many);
await times.take('first pods', shop.running(many));

test('a node reboots, and its plugin returns late', async (t) => {
  // the cases take turns in each round, because the load of the machine changes
  for (let count = 1; count <= reboots; count++) {
    const turn = `round ${count} of ${reboots}`;
    await t.test(`${turn}: all pods are deleted by hand as soon as the plugin is there`, async (one) => {
      one.diagnostic(await deletedByHand());
    });
    for (const evidence of evidences) {
      const name = `${turn}, evidence ${evidence}: repair deletes pods in time, and all run in the mesh`;
      await t.test(name, async (one) => one.diagnostic(await deletedByRepair(evidence)));
    }
  }
});

for (const evidence of evidences) {
  test(`a DaemonSet is Ready ${late} s before its plugin works (evidence: ${evidence})`, async (t) => {
    await configure(cluster, replicas, settings(evidence, 'recreate'));
    for (let count = 1; count <= reboots; count++) {
      const name = evidence === 'proof' ? 'at most two pods fail their proofs' : 'all pods fail their proofs';
      await t.test(`boot ${count} of ${reboots}: ${name}`, async (one) => {
        await shop.scale(0);
        await shop.running(0);
        // the pods are created once the gate knows of the boot, so that no pod is bound earlier
        const boot = await reboot(() => shop.scale(many));
        const running = await shop.running(many, boot.known);
        times.add(
          `new pods, evidence ${evidence}: Ready to the last pod Running`,
          (running - boot.ready) / 1000,
        );
        one.diagnostic(await tell(boot, running));
        onlyFailed(boot);
        const failed = failedIn(boot).size;
        if (evidence === 'proof') assert.ok(failed <= 2, `${failed} failed`);
        else assert.equal(failed, many);
      });
    }
  });
}

test('repair takes at most twice as long as deleting all pods by hand at the best moment', (t) => {
  if (reboots < enough) return t.skip(`not compared: a median needs at least ${enough} reboots`);
  for (const evidence of evidences) {
    const ratio = times.median(byRepair(evidence)) / times.median(byHand);
    t.diagnostic(`evidence ${evidence}: ${ratio.toFixed(2)}`);
    assert.ok(ratio <= 2, `evidence ${evidence}: ${ratio.toFixed(2)} times`);
  }
});

test(`without a boot, the plugin is out of the chain for ${fault} s while pods are replaced`, async (t) => {
  await shop.scale(few);
  await shop.running(few);
  for (let count = 1; count <= reboots; count++) {
    for (const mode of ['off', 'recreate'] as const) {
      const who =
        mode === 'off' ? 'all pods are deleted by hand as soon as it is back' : 'repair deletes them';
      await t.test(`round ${count} of ${reboots}: ${who}`, async (one) => {
        await configure(cluster, replicas, settings('proof', mode));
        one.diagnostic(await withoutPlugin(mode));
      });
    }
  }
  await shop.scale(many);
  await shop.running(many);
  if (reboots < enough) return t.diagnostic(`not compared: a median needs at least ${enough} rounds`);
  const ratio = times.median(faultBy('recreate')) / times.median(faultBy('off'));
  t.diagnostic(`repair: ${ratio.toFixed(2)} times as long as by hand`);
  assert.ok(ratio <= 2, `${ratio.toFixed(2)} times`);
});

test('a kubelet is suspended until its node is not ready, and resumed: no pod is deleted', async (t) => {
  await configure(cluster, replicas, settings('proof', 'recreate'));
  const since = Date.now();
  const before = new Set(shop.pods().map(({ uid }) => uid));
  const nodeIs = (ready: boolean): Promise<boolean> =>
    history.until((seen) => seen.nodes.at(-1)?.ready === ready || undefined);
  node.freezeKubelet();
  await nodeIs(false);
  times.add('kubelet frozen to node not ready', (Date.now() - since) / 1000);
  await sleep(since + frozen * 1000 - Date.now());
  node.thawKubelet();
  await nodeIs(true);
  await history.until(() => shop.pods().every(({ ready }) => ready) || undefined);
  // once an additional pod has passed, cni-gate has no pending decisions
  await shop.scale(many + 1);
  await shop.running(many + 1);
  assert.deepEqual(deletionsSince(since), []);
  assert.ok(before.isSubsetOf(new Set(shop.pods().map(({ uid }) => uid))));
  for (const line of times.lines()) t.diagnostic(line);
});

const byHand = 'by hand: plugin in the chain to the last pod Running';
const byRepair = (evidence: Evidence): string =>
  `repair, evidence ${evidence}: plugin in the chain to the last pod Running`;

async function deletedByHand(): Promise<string> {
  await configure(cluster, replicas, settings('ready', 'off'));
  const boot = await reboot();
  await shop.deleteAll();
  const running = await shop.running(many, boot.known);
  times.add(byHand, (running - boot.plugin) / 1000);
  return tell(boot, running);
}

async function deletedByRepair(evidence: Evidence): Promise<string> {
  await configure(cluster, replicas, settings(evidence, 'recreate'));
  const boot = await reboot();
  const running = await shop.running(many, boot.known);
  times.add(byRepair(evidence), (running - boot.plugin) / 1000);
  await allInMesh();
  const [deleted] = onlyFailed(boot);
  const first = firstDeletion(boot);
  assert.ok(deleted && first, 'no pod had to be deleted: this shows nothing');
  if (evidence === 'proof') assert.ok(deleted.at >= boot.plugin, 'deleted before the plugin was there');
  else assert.ok(first.version > boot.window.closed, 'deleted before the DaemonSet was Ready');
  return tell(boot, running);
}

const faultBy = (mode: 'off' | 'recreate'): string =>
  `${fault} s without the plugin, ${mode === 'off' ? 'by hand' : 'repair'}: back to the last pod Running`;

/** Removes the plugin from the chain while all pods are replaced. @param mode `off`: the test deletes failed pods */
async function withoutPlugin(mode: 'off' | 'recreate'): Promise<string> {
  const known = shop.proofs();
  const chain = readFileSync(node.chain, 'utf8');
  writeFileSync(node.chain, JSON.stringify(primaryChain));
  const gone = Date.now();
  await shop.deleteAll();
  await sleep(gone + fault * 1000 - Date.now());
  writeFileSync(node.chain, chain);
  const back = Date.now();
  if (mode === 'off') await shop.deleteAll();
  const running = await shop.running(few, known);
  times.add(faultBy(mode), (running - back) / 1000);
  const failed = shop.verdicts(known).get(exitCode.failed)?.size ?? 0;
  if (mode === 'recreate') assert.ok(failed >= few, `${failed} proofs failed: this shows nothing`);
  await allInMesh();
  const since = (at: number): string => ((at - back) / 1000).toFixed(1);
  const deletions = deletionsSince(gone).filter(({ by }) => by === ownAccount);
  return (
    `seconds since the plugin is back: last of ${few} pods Running ${since(running)}; ` +
    `deleted by cni-gate ${deletions.map(({ at }) => since(at)).join(' ') || 'none'}; ${failed} proofs failed`
  );
}

/** A boot of the node. Times are in milliseconds since 1970. */
interface Boot {
  /** Ids of the proofs of earlier boots. */
  known: Set<string>;
  /** How many bindings the gate had refused before this boot. */
  refused: number;
  power: number;
  window: Window;
  /** When the DaemonSet's pod was seen Ready. */
  ready: number;
  /** When the plugin was in the chain. */
  plugin: number;
}

/** Reboots the node, and waits until the plugin is in its chain. */
async function reboot(booted: () => Promise<void> = async () => {}): Promise<Boot> {
  const known = shop.proofs();
  const refused = await refusals();
  await node.powerCut();
  const power = Date.now();
  const booting = node.boot();
  const windowClosed = history.until((seen) => windowOf(seen, node.bootId, isAgent));
  const readyAt = windowClosed.then(() => Date.now());
  await history.until((seen) => openedAt(seen, node.bootId));
  await booted();
  await booting;
  await chained(node);
  const plugin = statSync(node.chain).mtimeMs;
  return { known, refused, power, window: await windowClosed, ready: await readyAt, plugin };
}

const refusals = (): Promise<number> =>
  ownMetric(replicas, 'cni_gate_admission_reviews_total', {
    webhook: 'gate',
    profile: 'linkerd',
    outcome: 'refused',
  });

/** Successful deletions of pods in the Deployment's namespace since a time, without those by kubelets. */
function deletionsSince(since: number): Deletion[] {
  return deletionsIn(cluster).filter(
    ({ by, namespace, at }) => at >= since && namespace === shop.namespace && !by.startsWith('system:node:'),
  );
}

const failedIn = ({ known }: Boot): Set<string> => shop.verdicts(known).get(exitCode.failed) ?? new Set();

/** The first version of a pod since the boot that shows that the pod is being deleted. */
const firstDeletion = ({ window }: Boot): PodWrite | undefined =>
  history.pods.find((one) => one.namespace === shop.namespace && one.leaving && one.version > window.opened);

/** The deletions since a boot. Asserts that only cni-gate deleted pods, only after failed proofs, and none twice. */
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

/** A summary of a boot for the test's output. Times count from power on. */
async function tell(boot: Boot, running: number): Promise<string> {
  const since = (at: number): string => `${((at - boot.power) / 1000).toFixed(1)} s`;
  const verdicts = [...shop.verdicts(boot.known)].map(([code, { size }]) => `${size} with ${code}`);
  const writes = history.pods.filter(
    ({ namespace, version }) => namespace === shop.namespace && version > boot.window.opened,
  );
  const first = (found: (write: PodWrite) => boolean): string => {
    const write = writes.find((one) => !boot.known.has(one.proof?.id ?? '') && found(one));
    return write === undefined ? 'none' : since(write.seen);
  };
  return (
    `DaemonSet Ready ${since(boot.ready)}, plugin ${since(boot.plugin)}, first proof failed ` +
    `${first(({ proof }) => proof?.exitCode === exitCode.failed)}, first pod deleted ` +
    `${first(({ leaving }) => leaving)}, first proof passed ` +
    `${first(({ proof }) => proof?.exitCode === exitCode.passed)}, last of ${many} pods Running ` +
    `${since(running)}; proofs ended: ${verdicts.join(', ')}; deleted by cni-gate: ` +
    `${deletionsSince(boot.power).filter(({ by }) => by === ownAccount).length}; ` +
    `bindings refused: ${(await refusals()) - boot.refused}`
  );
}
