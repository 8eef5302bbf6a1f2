import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel } from '../../webhook/lib/names.ts';
import { cniGate } from '../support/command.ts';
import { pod } from './harness/objects.ts';
import { cutOff, restoreAll } from './harness/unreachable.ts';
import { installed } from './installed/installation.ts';
import { deployment, makeNamespace, runningPod } from './installed/working.ts';

/* The node of one of the two replicas loses power. docs/decisions/server.md has the measured times. */

interface Creation {
  /** When the pod was requested, in milliseconds after the node's death. `to` is when the answer came. */
  from: number;
  to: number;
  ok: boolean;
}

interface EndpointSlice {
  endpoints: { addresses: string[]; conditions: { ready: boolean } }[] | null;
}

// a node counts as dead after 30 s: Kubernetes' default is 50, and calls to the dead replica fail sooner
const { cluster, replicas } = await installed('strict', { nodeLifecycle: 30 });
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
await cluster.kubectl(['-n', 'shop', 'apply', '-f', '-'], { input: [deployment('web')] });
await runningPod(cluster, 'shop', 'web');

const creations: Creation[] = [];
let death = 0;
/** Milliseconds since the node's death. */
const now = (): number => performance.now() - death;

async function create(): Promise<void> {
  const from = now();
  const ok = await cluster.api.post('/api/v1/namespaces/shop/pods?dryRun=All', pod('alone')).then(
    () => true,
    () => false,
  );
  creations.push({ from, to: now(), ok });
}

// cordoned, because no process would run for a new pod in place of the dead replica
const alive = replicas[1]?.pod.spec.nodeName ?? '';
await cluster.kubectl(['cordon', alive]);

/** Renews the lease of the living node every 5 s, because kwok stops and with it the heartbeats of both nodes. */
const heartbeats = setInterval(() => {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${alive}`;
  // a failed renewal does not matter: the next one comes in time
  cluster.api.patch(path, { spec: { renewTime } }).catch(() => {});
}, 5000);
after(() => clearInterval(heartbeats));

/** How many seconds the test waits for a step, which takes 35 s, or longer on a busy machine. */
const patience = 150;

/** How many calls run at the same time before the death, so that the API server has as many connections for 90 s. */
const atOnce = 8;
for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: atOnce }, create));

const [dead] = replicas;
const address = dead?.pod.status.podIP;
assert.ok(dead?.pod.spec.nodeName && address);
after(restoreAll);

test('most pods are admitted until the node is known to be dead, and all afterwards', async (t) => {
  assert.ok(creations.every(({ ok }) => ok));
  creations.length = 0;
  death = performance.now();
  cutOff(address);
  const [left, controllers] = await Promise.all([
    creating(),
    madeByController(),
    cluster.api.patch('/apis/apps/v1/namespaces/shop/deployments/web', { spec: { replicas: 4 } }),
    cluster.components.kwok.stop(),
  ]);
  creations.sort((one, other) => one.from - other.from);
  const failed = creations.filter(({ ok }) => !ok);
  const first = Math.min(...creations.filter(({ ok }) => ok).map(({ to }) => to));
  t.diagnostic(
    `${creations.length} creations, one a second; ${failed.length} failed, begun at ${list(failed)} s`,
  );
  t.diagnostic(`first pod admitted ${seconds(first)} s after the node's death`);
  t.diagnostic(
    `the three pods of a Deployment that was scaled at that moment: after ${seconds(controllers)} s`,
  );
  t.diagnostic(`the endpoint was removed ${seconds(left)} s after the node's death`);
  const before = creations.filter(({ from }) => from < left);
  assert.ok(before.filter(({ ok }) => ok).length > before.length / 2, `${failed.length} of ${before.length}`);
  assert.deepEqual(
    failed.filter(({ from }) => from > left),
    [],
  );
});

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);
const list = (some: Creation[]): string => some.map(({ from }) => seconds(from)).join(' ') || '-';

/**
 * Creates a pod each second until ten seconds after the Service has lost the dead endpoint.
 *
 * @returns when the Service lost the endpoint, in ms after the node's death
 */
async function creating(): Promise<number> {
  const going = endpointGone();
  const running: Promise<void>[] = [];
  let stop = Infinity;
  const end = going.then(
    (left) => {
      stop = left + 10_000;
    },
    () => {
      stop = 0;
    },
  );
  while (now() < stop) {
    running.push(create());
    await sleep(1000);
  }
  await Promise.all([end, ...running]);
  return going;
}

/** When the dead replica's address was no longer a ready endpoint of the Service, in ms after the node's death. */
async function endpointGone(): Promise<number> {
  await cluster.api.until<EndpointSlice>(
    '/apis/discovery.k8s.io/v1/namespaces/cni-gate/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dcni-gate',
    ({ endpoints }) =>
      (endpoints ?? []).every(({ addresses, conditions }) => addresses[0] !== address || !conditions.ready),
    patience,
  );
  return now();
}

/** When the Deployment that was scaled to four pods had four, in ms after the node's death. */
async function madeByController(): Promise<number> {
  await cluster.api.until<{ status: { replicas?: number } }>(
    '/apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name%3Dweb',
    ({ status }) => status.replicas === 4,
    patience,
  );
  return now();
}

test('if all calls to the replicas are dropped, as by a wrong NetworkPolicy, the probe says so', () => {
  for (const { pod: replica } of replicas) cutOff(replica.status.podIP ?? '');
  const { status, stdout } = cniGate(['status', '--probe', '--kubeconfig', cluster.admin.kubeconfig]);
  assert.equal(status, 1);
  assert.match(stdout, /^✗ probe +1 failed\n[\s\S]*failed\s+calling\s+webhook\s+"pods\.cni-gate\.io"/m);
});
