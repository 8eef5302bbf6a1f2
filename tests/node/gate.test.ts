import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setInterval } from 'node:timers/promises';
import { profileLabel } from '../../webhook/lib/names.ts';
import { pod } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { History, type PodWrite } from './harness/history.ts';
import { installedNode } from './harness/installed.ts';
import { boundIn, boundWhile, openedAt, refusalsIn, windowOf } from './harness/window.ts';
import { installerImage, linkerdCni } from './mesh/daemon-set.ts';

const reboots = Math.min(5, Number(process.env.CNI_GATE_REBOOTS ?? 5));
/** Milliseconds between two pods in each namespace. */
const pace = 200;
/** Pods per namespace: at most `before` until the node reports its boot, then `since` more. All fit on the node. */
const pods = { before: 30, since: 10 };

/** The namespaces differ only in their name and in the label with which `shop` opted in. */
const namespaces = ['shop', 'bare'];

// cni-gate runs on two simulated nodes, because it would be down if it ran on the node that reboots
const { cluster, node, image } = await installedNode(installerImage());
const history = new History(cluster, node.name);
after(() => history.stop());
const isAgent = (one: PodWrite): boolean => one.namespace === 'linkerd-cni' && one.node === node.name;
await cluster.apply(...linkerdCni(cluster.server, 0));
await history.until((seen) => seen.pods.find((one) => isAgent(one) && one.ready));
await makeNamespace(cluster, 'shop', { [profileLabel]: 'linkerd' });
await makeNamespace(cluster, 'bare');

test('a node reboots while pods are created for it', async (t) => {
  for (let count = 1; count <= reboots; count++) {
    const name = `reboot ${count} of ${reboots}: no pod that opted in is bound before the network is back`;
    await t.test(name, async (one) => one.diagnostic(await reboot(`web-${count}-`)));
  }
});

/** @returns a summary for the test's output */
async function reboot(prefix: string): Promise<string> {
  await node.powerCut();
  // with a grace period of 0, the API server removes the pods immediately, without a kubelet
  for (const where of namespaces) await cluster.api.delete(podsOf(where));
  const [made, window] = await Promise.all([
    makePods(prefix, node.boot()),
    history.until((seen) => windowOf(seen, node.bootId, isAgent)),
  ]);
  const bound = (where: string) => boundIn(history, where).filter(({ name }) => name.startsWith(prefix));
  // the held pods are bound in the end
  await history.until(() => (bound('shop').length === made ? true : undefined));

  const refusals = refusalsIn(history, window);
  const [first] = refusals;
  assert.ok(first, 'no pod was refused: nothing was tried in time');
  const shop = boundWhile(window, first.version, bound('shop'));
  const bare = boundWhile(window, first.version, bound('bare'));
  assert.deepEqual(shop.known, []);
  // the agent's status was still Ready when the gate refused the first pods
  assert.match(first.refusal ?? '', /is rebooted there/);
  // for comparison: the namespace that did not opt in got the same pods at the same time, and the gate held none
  assert.notDeepEqual(bare.known, [], 'no pod was bound without the gate either: this shows nothing');
  assert.deepEqual([...new Set(refusals.map(({ namespace }) => namespace))], ['shop']);
  const held = new Set(refusals.map(({ uid }) => uid)).size;
  return (
    `${made} pods each; bound in the window: shop none, and ${shop.underWay.length} under way when it opened; ` +
    `bare ${bare.known.length}, and ${bare.underWay.length}; refused: ${held}`
  );
}

const podsOf = (where: string): string => `/api/v1/namespaces/${where}/pods`;

/** Creates pods for the node in both namespaces while the node boots, and some more afterwards. */
async function makePods(prefix: string, booting: Promise<void>): Promise<number> {
  let made = 0;
  const some = async (enough: () => boolean): Promise<void> => {
    for await (const _ of setInterval(pace)) {
      if (enough()) return;
      const one = waiting(`${prefix}${made++}`);
      await Promise.all(namespaces.map((where) => cluster.api.post(podsOf(where), one)));
    }
  };
  const opened = (): bigint | undefined => openedAt(history, node.bootId);
  await some(() => made >= pods.before || opened() !== undefined);
  await history.until(opened);
  const enough = made + pods.since;
  await some(() => made >= enough);
  await booting;
  return made;
}

/** A pod for the node that reboots, with the mesh's proxy. */
function waiting(name: string): object {
  return pod(name, {
    nodeSelector: { 'kubernetes.io/hostname': node.name },
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'linkerd-proxy', image: image.name, securityContext: { runAsUser: 2102 } }],
  });
}
