import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { fingerprintsIn, newAuthority, type State, secretData } from '../../certs/rotation.ts';
import {
  configuration,
  configurationPath,
  Installation,
  namespace,
  secretName,
  secretPath,
} from './certificates/installation.ts';
import { beginLoad } from './certificates/load.ts';
import type { Replica } from './certificates/replica.ts';
import { ApiError } from './harness/api.ts';
import { eventually } from './harness/eventually.ts';
import { startCluster } from './harness/start.ts';

/** Pods per second. */
const rate = 50;
const repairs = 'cni_gate_certificate_repairs_total';
const cluster = await startCluster();
const installation = await Installation.make(cluster);
/** Starts a replica that does not drain: when it ends here, no client calls it. */
const replica = (host: string, access = installation.access): Replica =>
  installation.replica(host, ['--drain-delay', '0s', '--drain-timeout', '1s'], access);
let [one, other] = [replica('10.254.1.1'), replica('10.254.1.2')];
after(() => Promise.all([one, other].map((it) => it.end())));

/** The data of a Secret that another installation would have. */
const stranger = secretData({ authority: newAuthority(30, new Date()) });

async function admitted(t: TestContext): Promise<void> {
  const { failures } = await beginLoad(t, cluster, rate).end();
  assert.deepEqual(failures, []);
}

async function counted(name: string, labels: Record<string, string>): Promise<number> {
  const counts = await Promise.all([one, other].map((it) => it.metric(name, labels)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function whole(): Promise<State> {
  const state = await installation.until(({ authority }) => authority.notAfter > new Date());
  await installation.untilBundles((bundle) => fingerprintsIn(bundle).has(state.authority.fingerprint));
  return state;
}

test('a Secret of another owner stays unchanged and is logged; once it is deleted, the replicas serve', async (t) => {
  await Promise.all([one.end(), other.end()]);
  const foreign = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: secretName },
    data: { password: 'c2VjcmV0' },
  };
  // one of the two replicas may already have created the Secret
  await cluster.api.delete(secretPath).catch((error) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
  await cluster.api.post(`/api/v1/namespaces/${namespace}/secrets`, foreign);
  [one, other] = [replica('10.254.1.1'), replica('10.254.1.2')];
  for (const it of [one, other]) {
    await it.logged(/does not carry our label and contains password.*CNI_GATE_TLS_SECRET_FOREIGN/);
    const ready = await it.ops('/readyz');
    assert.equal(ready.status, 503);
    assert.match(ready.body, /no serving certificate yet: the Secret does not carry our label/);
  }
  assert.deepEqual(await installation.data(), { password: 'secret' });
  await cluster.api.delete(secretPath);
  await Promise.all([one.serving(), other.serving()]);
  await whole();
  await installation.endpoints([one, other]);
  await admitted(t);
});

test('a Secret that is emptied, without our label, is repaired and never served', async (t) => {
  const before = await whole();
  const labels = { object: 'secret', reason: 'empty' };
  const [count, lines] = [await counted(repairs, labels), [one, other].map((it) => it.lines.length)];
  const load = beginLoad(t, cluster, rate);
  await installation.setData({ 'tls.crt': '', 'tls.key': '' }, false);
  const reported = await Promise.any([one, other].map((it, at) => it.logged(/repaired: /, lines[at])));
  const after = await whole();
  assert.equal(after.authority.fingerprint, before.authority.fingerprint, 'the authority is kept');
  assert.match(String(reported.code), /^CNI_GATE_TLS_/);
  const [counts] = await Promise.all([counted(repairs, labels), load.more(50)]);
  assert.ok(counts > count, 'no repair was counted');
  assert.deepEqual((await load.end()).failures, []);
  for (const it of [one, other]) await it.servesBy(after.authority);
});

test('the replicas restore a deleted Secret from what they know', async (t) => {
  const [before, served] = [await whole(), await one.served()];
  const count = await counted(repairs, { object: 'secret', reason: 'missing' });
  const load = beginLoad(t, cluster, rate);
  await cluster.api.delete(secretPath);
  const after = await whole();
  assert.equal(after.authority.fingerprint, before.authority.fingerprint);
  assert.equal((await one.served()).fingerprint256, served.fingerprint256);
  await load.more(50);
  assert.deepEqual((await load.end()).failures, []);
  await eventually(async () =>
    assert.equal(await counted(repairs, { object: 'secret', reason: 'missing' }), count + 1),
  );
});

test('a caBundle of another party is repaired', async (t) => {
  const { authority } = await whole();
  const labels = { object: 'webhook-configuration', reason: 'foreign' };
  const count = await counted(repairs, labels);
  const found = await cluster.api.get<{ webhooks: { clientConfig: { caBundle: string } }[] }>(
    configurationPath,
  );
  for (const { clientConfig } of found.webhooks)
    clientConfig.caBundle = Buffer.from(stranger['ca.crt'] ?? '').toString('base64');
  await cluster.api.patch(configurationPath, { webhooks: found.webhooks });
  await installation.untilBundles((seen) => fingerprintsIn(seen).has(authority.fingerprint), 10);
  await eventually(async () => assert.ok((await counted(repairs, labels)) > count));
  await eventually(() => admitted(t));
});

test('a deleted webhook configuration is logged once, and its caBundle is written when it is back', async (t) => {
  const found = await cluster.api.get<{ metadata: object; webhooks: object[] }>(configurationPath);
  const lines = one.lines.length;
  await cluster.api.delete(configurationPath);
  await one.logged(/mutating\/cni-gate does not exist.*CNI_GATE_CA_BUNDLE/, lines);
  await eventually(async () =>
    assert.equal(await one.metric('cni_gate_ca_bundle_complete', { configuration }), 0),
  );
  const clean = { ...found, metadata: { name: 'cni-gate' } };
  for (const webhook of clean.webhooks as { clientConfig: { caBundle?: string } }[])
    delete webhook.clientConfig.caBundle;
  await cluster.api.post(configurationPath.replace(/\/cni-gate$/, ''), clean);
  await whole();
  await eventually(async () =>
    assert.equal(await one.metric('cni_gate_ca_bundle_complete', { configuration }), 1),
  );
  await eventually(() => admitted(t));
  assert.equal(one.lines.slice(lines).filter(({ msg }) => /does not exist/.test(String(msg))).length, 1);
});

test('replicas wait for an API server that is down at their start; one that gets SIGTERM meanwhile ends immediately', async (t) => {
  await Promise.all([one.end(), other.end()]);
  await cluster.components['kube-apiserver'].stop();
  [one, other] = [replica('10.254.1.1'), replica('10.254.1.2')];
  await one.logged(/CNI_GATE_CLUSTER_UNREACHABLE/);
  const ready = await one.ops('/readyz');
  assert.equal(ready.status, 503);
  assert.match(
    ready.body,
    /no serving certificate yet: cannot get secrets cni-gate-tls.*no answer from the API server/,
  );
  assert.equal((await one.ops('/livez')).status, 200);
  const late = replica('10.254.1.3');
  await late.logged(/CNI_GATE_CLUSTER_UNREACHABLE/);
  assert.equal(await late.end(), 0);
  await cluster.components['kube-apiserver'].start();
  await Promise.all([one.serving(), other.serving()]);
  await eventually(() => admitted(t));
});
