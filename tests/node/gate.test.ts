import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setInterval } from 'node:timers/promises';
import { profileLabel } from '../../webhook/names.ts';
import { Cluster } from '../cluster/harness/cluster.ts';
import { install } from '../cluster/installed/installation.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { History, type PodWrite } from './harness/history.ts';
import { forNodes } from './harness/network.ts';
import { RealNode } from './harness/node.ts';
import { bindings, isIn, windowOf } from './harness/window.ts';
import { gateImage, sandboxImage, standIn } from './images/images.ts';
import { installerImage, linkerdCni } from './mesh/daemon-set.ts';

/** How often the node is rebooted. */
const reboots = Number(process.env.CNI_GATE_REBOOTS ?? 5);
/** A pod is made in each namespace so often, in milliseconds. */
const pace = Number(process.env.PACE??200);

const cluster = await Cluster.start(forNodes);
after(() => cluster.stop());
// two nodes that are none take cni-gate's pods: on the one that is rebooted it would be away when it is asked
const { replicas } = await install(cluster, 'strict');
after(() => Promise.all(replicas.map((replica) => replica.end())));
const proxy = standIn('localhost/waits:test', 'pause.ts');
const node = await RealNode.start(cluster, 'node-1', [gateImage(), sandboxImage(), installerImage(), proxy]);
after(() => node.powerCut());
const history = new History(cluster, node.name);
after(() => history.stop());
const isAgent = (pod: PodWrite): boolean => pod.namespace === 'linkerd-cni' && pod.node === node.name;
await cluster.kubectl(['apply', '-f', '-'], { input: linkerdCni(cluster.server, 0) });
await history.until(({ pods }) => pods.find((pod) => isAgent(pod) && pod.ready));
// they differ in their namespace only: one opted in
await makeNamespace(cluster, 'shop', { [profileLabel]: 'linkerd' });
await makeNamespace(cluster, 'bare');

for (let count = 1; count <= reboots; count++) {
  test(`reboot ${count} of ${reboots}`, async (t) => {
    try { await node.powerCut();
    const path = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
    for (const ns of ['shop', 'bare'])
      await cluster.api.delete(path(ns));
    const stop = new AbortController();
    const from = replicas.map(({ lines }) => lines.length);
    const making = (async () => {
      let made = 0;
      for await (const _ of setInterval(pace)) {
        if (stop.signal.aborted) return made;
        const pod = {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: `p-${count}-${made++}` },
          spec: {
            nodeSelector: { 'kubernetes.io/hostname': node.name },
            automountServiceAccountToken: false,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'linkerd-proxy', image: proxy.name, securityContext: { runAsUser: 2102 } }],
          },
        };
        await Promise.all(['shop', 'bare'].map((ns) => cluster.api.post(path(ns), pod)));
      }
    })();
    await node.boot();
    const window = await history.until((h) => windowOf(h, node.bootId, isAgent));
    stop.abort();
    const made = await making;
    const mine = (ns: string) => bindings(history, ns).filter(({ name }) => name.startsWith(`p-${count}-`));
    await history.until(() => (mine('shop').length === made ? true : undefined));
    for (const ns of ['shop', 'bare']) {
      const all = mine(ns!);
      t.diagnostic(
        `${ns}: made ${made} before ${all.filter((b) => b.version < window.opened).length} in ${all.filter((b) => isIn(window, b)).length} after ${all.filter((b) => b.version > window.closed).length}; in: ${all.filter((b) => isIn(window, b)).map((b) => `${b.name}@+${b.version - window.opened}`)}; length ${window.closed - window.opened}`,
      );
    }
    const reasons: Record<string, number> = {};
    replicas.forEach(({ lines }, i) => {
      for (const { webhook, outcome, reason } of lines.slice(from[i]))
        if (webhook === 'gate') reasons[`${outcome} ${reason}`] = (reasons[`${outcome} ${reason}`] ?? 0) + 1;
    });
    t.diagnostic(JSON.stringify(reasons));
    } catch (e) { console.log(e); throw e; }
  });
}
