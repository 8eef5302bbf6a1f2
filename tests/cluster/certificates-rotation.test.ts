import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { fingerprintsIn, type State } from '../../certs/rotation.ts';
import { blocks, pages } from '../support/pages.ts';
import { configurationPath, Installation, validatingPath } from './certificates/installation.ts';
import { beginLoad, type Outcome } from './certificates/load.ts';
import type { Replica } from './certificates/replica.ts';
import { startCluster } from './harness/start.ts';
import { shell } from './installed/guide.ts';

const [, section = ''] = pages('docs/guides/certificates.md')[0]?.text.split('\n### Rotate by hand\n') ?? [];
const [rotate = '', distrust = ''] = blocks(section, 'console');
/** Pods per second. */
const rate = 100;
const cluster = await startCluster();
const installation = await Installation.make(cluster);
const replicas = new Set<Replica>();
// without a drain, which would last until the API server closes its idle connections
after(() => Promise.all([...replicas].map((replica) => replica.end('SIGKILL'))));

function start(host: string): Replica {
  // the default drain, because the API server may take seconds to drop an endpoint on a busy machine
  const replica = installation.replica(host, ['--drain-delay', '5s', '--drain-timeout', '25s']);
  replicas.add(replica);
  return replica;
}

let [one, other] = [start('10.254.1.1'), start('10.254.1.2')];

function assertHarmless(t: TestContext, { created, failures, seconds }: Outcome): void {
  t.diagnostic(`${created} pods in ${seconds.toFixed(1)} s, ${Math.round(created / seconds)} a second`);
  assert.deepEqual(failures.slice(0, 5), [], `${failures.length} creations failed`);
  assert.ok(created > 100, `a load of ${created} pods shows nothing`);
}

async function allServe({ authority }: State): Promise<void> {
  await Promise.all([one, other].map((replica) => replica.servesBy(authority)));
}

test('two replicas that start at the same time agree on one authority, and all our webhooks trust it', async () => {
  await Promise.all([one.serving(), other.serving()]);
  const state = await installation.until(() => true);
  await allServe(state);
  const authority = state.authority.fingerprint;
  await installation.untilBundles((bundle) => fingerprintsIn(bundle).has(authority));
  const made = await Promise.all(
    [one, other].map((replica) => replica.metric('cni_gate_certificate_steps_total', { step: 'create' })),
  );
  assert.deepEqual(made.toSorted(), [0, 1], 'one creates it, the other adopts it');
  await installation.endpoints([one, other]);
});

test("another party's webhook in our configuration is left alone", async () => {
  const { webhooks } = await cluster.api.get<{
    webhooks: { name: string; clientConfig: { caBundle?: string } }[];
  }>('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cni-gate');
  const bundles = Object.fromEntries(webhooks.map(({ name, clientConfig }) => [name, clientConfig.caBundle]));
  assert.equal(bundles['somebody.example.com'], undefined);
  assert.notEqual(bundles['bindings.cni-gate.io'], undefined);
});

test('the authority, and with it every serving certificate, is rotated under load without one failed admission', async (t) => {
  const load = beginLoad(t, cluster, rate);
  const before = await installation.state();

  await shell(cluster, rotate, { folder: mkdtempSync(join(tmpdir(), 'cni-gate-rotate-')) });
  const promoted = await installation.until(({ authority }) => {
    return authority.fingerprint !== before.authority.fingerprint;
  });
  assert.ok(promoted.previous?.some(({ fingerprint }) => fingerprint === before.authority.fingerprint));
  // the resource versions of all objects in one etcd follow the order of the writes
  const { metadata: secret } = await installation.secret();
  for (const path of [configurationPath, validatingPath]) {
    const { metadata } = await cluster.api.get<{ metadata: { resourceVersion: string } }>(path);
    const order = BigInt(secret.resourceVersion) - BigInt(metadata.resourceVersion);
    assert.ok(order > 0n, `${path} trusted the authority before it signed`);
  }
  await allServe(promoted);

  await shell(cluster, distrust);
  const old = before.authority.fingerprint;
  await installation.untilBundles((bundle) => bundle !== '' && !fingerprintsIn(bundle).has(old));
  assertHarmless(t, await load.end());
});

test('a rolling restart of both replicas under load: every pod is admitted', async (t) => {
  const load = beginLoad(t, cluster, rate);
  const codes: Promise<number | null>[] = [];
  const restart = async (replica: Replica, remaining: Replica, host: string): Promise<Replica> => {
    // the endpoints controller removes a pod's address when the pod is deleted, which is when it gets SIGTERM
    codes.push(replica.end());
    await installation.endpoints([remaining]);
    replicas.delete(replica);
    // at a new address, because the old replica still has connections at its own
    const again = start(host);
    await again.serving();
    await installation.endpoints([again, remaining]);
    return again;
  };
  one = await restart(one, other, '10.254.1.3');
  other = await restart(other, one, '10.254.1.4');
  // both restarts can take less than a second
  await load.more(100);
  assertHarmless(t, await load.end());
  assert.deepEqual(await Promise.all(codes), [0, 0]);
  assert.equal((await one.ops('/readyz')).status, 200);
  await installation.state();
});
