import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { connect } from 'node:tls';
import { fingerprintsIn, newAuthority, readSecret, type State, secretData } from '../../certs/rotation.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { startCniGate } from '../support/command.ts';
import { blocks, pages } from '../support/pages.ts';
import { beginLoad } from './certificates/load.ts';
import { eventually } from './harness/eventually.ts';
import { ownMetric } from './harness/metrics.ts';
import { addNode } from './harness/nodes.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { shell } from './installed/guide.ts';
import { runningPods } from './installed/installation.ts';
import { applyOwn, tryPod } from './installed/overlay.ts';
import { startPod } from './installed/pod.ts';
import { initNames, makeNamespace, type UserPod } from './installed/working.ts';

/* cni-gate manages its own certificates (overlay `strict`). tests/chart/lifecycle.test.ts tests restarts under load. */

/** Pods per second. */
const rate = 50;
/** How long a new authority is trusted before replicas sign with it. This test does not work with less. */
const overlap = '5s';
const secretPath = '/api/v1/namespaces/cni-gate/secrets/cni-gate-tls';
const registrations = '/apis/admissionregistration.k8s.io/v1';
const mutating = `${registrations}/mutatingwebhookconfigurations/cni-gate`;
const validating = `${registrations}/validatingwebhookconfigurations/cni-gate`;
const repairs = 'cni_gate_certificate_repairs_total';

const [, section = ''] = pages('docs/guides/certificates.md')[0]?.text.split('\n### Rotate by hand\n') ?? [];
const [rotate = '', distrust = ''] = blocks(section, 'console');

const cluster = await startCluster();
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await install();
const pods = await runningPods(cluster, 2);
let replicas = await Promise.all(pods.map((one) => startPod(cluster, one)));
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

interface Secret {
  metadata: { resourceVersion: string };
  data?: Record<string, string>;
}

interface Configuration {
  metadata: { resourceVersion: string };
  webhooks: { clientConfig: { caBundle?: string } }[];
}

test('two replicas that start at the same time agree on one authority, and all our webhooks trust it', async () => {
  await allServe(await whole());
  await eventually(async () =>
    assert.equal(await ownMetric(replicas, 'cni_gate_certificate_steps_total', { step: 'create' }), 1),
  );
  await eventually(admitted);
});

test('the authority, and with it every serving certificate, is rotated under load without one failed admission', async (t) => {
  const load = beginLoad(t, cluster, rate);
  const { authority: old } = await state();
  await shell(cluster, rotate, { folder: mkdtempSync(join(tmpdir(), 'cni-gate-rotate-')) });
  const promoted = await eventually(async () => {
    const found = await state();
    assert.notEqual(found.authority.fingerprint, old.fingerprint);
    return found;
  });
  assert.ok(promoted.previous?.some(({ fingerprint }) => fingerprint === old.fingerprint));
  // in one etcd, a later write has a higher resource version, even of another object
  const [signed, ...trusted] = await Promise.all(
    [secretPath, mutating, validating].map((path) => cluster.api.get<Secret | Configuration>(path)),
  );
  for (const { metadata } of trusted) {
    const order = BigInt(signed?.metadata.resourceVersion ?? 0) - BigInt(metadata.resourceVersion);
    assert.ok(order > 0n, 'it signed before every webhook trusted it');
  }
  await allServe(promoted);

  await shell(cluster, distrust);
  await eventually(async () => {
    for (const authorities of await trustedBy()) assert.ok(!authorities.has(old.fingerprint));
  });
  const { created, failures } = await load.end();
  assert.deepEqual(failures, []);
  assert.ok(created > 100, `a load of ${created} pods shows nothing`);
});

/** A CA bundle that another installation would have. */
const foreign = secretData({ authority: newAuthority(30, new Date()) })['ca.crt'] ?? '';

for (const { what, object, reason, breakIt } of [
  {
    what: 'a Secret that is emptied, and loses our label,',
    object: 'secret',
    reason: 'empty',
    breakIt: () => replace(secretPath, { '/data': { 'tls.crt': '', 'tls.key': '' }, '/metadata/labels': {} }),
  },
  {
    what: 'a deleted Secret',
    object: 'secret',
    reason: 'missing',
    breakIt: () => cluster.api.delete(secretPath),
  },
  {
    what: 'a caBundle of another party',
    object: 'webhook-configuration',
    reason: 'foreign',
    breakIt: () =>
      replace(mutating, { '/webhooks/0/clientConfig/caBundle': Buffer.from(foreign).toString('base64') }),
  },
  {
    what: 'a webhook configuration that is deleted and installed again',
    object: 'webhook-configuration',
    reason: 'empty',
    breakIt: async () => {
      await cluster.api.delete(mutating);
      await install();
    },
  },
])
  test(`${what} is repaired, and the authority is kept`, async (t) => {
    const before = await whole();
    const count = await ownMetric(replicas, repairs, { object, reason });
    const load = beginLoad(t, cluster, rate);
    await breakIt();
    await eventually(async () =>
      assert.ok((await ownMetric(replicas, repairs, { object, reason })) > count, 'no repair was counted'),
    );
    const repaired = await whole();
    assert.equal(repaired.authority.fingerprint, before.authority.fingerprint);
    await allServe(repaired);
    await load.more(rate);
    const { failures } = await load.end();
    // without the Secret, replicas use the certificate in memory; without a caBundle, the API server cannot call them
    if (object === 'secret') assert.deepEqual(failures, []);
    await eventually(admitted);
  });

test('at the start, a Secret of another owner stays unchanged; once it is deleted, the replicas serve', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  const data = { password: 'c2VjcmV0' };
  await cluster.api.delete(secretPath);
  const metadata = { namespace: 'cni-gate', name: 'cni-gate-tls' };
  await cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata, data });
  const starting = Promise.all(pods.map((one) => startPod(cluster, one)));
  for (const { opsUrl } of replicas)
    await eventually(async () => {
      const answer = await fetch(`${opsUrl}/readyz`);
      assert.equal(answer.status, 503);
      assert.match(await answer.text(), /no serving certificate yet: the Secret does not carry our label/);
    });
  assert.deepEqual((await cluster.api.get<Secret>(secretPath)).data, data);
  assert.equal(await codeOfWaiting(), 0, 'SIGTERM ends a replica that still waits');
  await cluster.api.delete(secretPath);
  replicas = await starting;
  await allServe(await whole());
  await eventually(admitted);
});

/** The exit code of a replica that gets SIGTERM while it waits for a certificate. */
async function codeOfWaiting(): Promise<number | null> {
  const access = ['--kubeconfig', cluster.admin.kubeconfig, '--own-namespace', 'cni-gate'];
  const child = startCniGate(['serve', ...access, '--tls-secret', 'cni-gate-tls', '--ops-port', '0']);
  assert.ok(child.stdout);
  for await (const line of createInterface(child.stdout)) if (/TLS_SECRET_FOREIGN/.test(line)) break;
  child.kill();
  const [code] = await once(child, 'exit');
  return code;
}

/** Applies the overlay with a short overlap. */
function install(): Promise<void> {
  const path = '/spec/template/spec/containers/0/args/-';
  const patch = JSON.stringify([{ op: 'add', path, value: `--tls-overlap=${overlap}` }]);
  const patches = [{ target: { kind: 'Deployment', name: 'cni-gate' }, patch }];
  return applyOwn(cluster, { overlay: 'strict', fields: { patches } });
}

/** Replaces values of an object. The keys of `values` are JSON Pointers. */
function replace(path: string, values: Record<string, unknown>): Promise<unknown> {
  const body = Object.entries(values).map(([at, value]) => ({ op: 'replace', path: at, value }));
  return cluster.api.request('PATCH', path, { type: 'application/json-patch+json', body });
}

async function state(): Promise<State> {
  const { data = {} } = await cluster.api.get<Secret>(secretPath);
  const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
  const { state: found, fault } = readSecret(Object.fromEntries(decoded), new Date());
  return found ?? assert.fail(fault.message);
}

/** For each of our webhooks, the fingerprints of the authorities in its caBundle. */
async function trustedBy(): Promise<ReadonlySet<string>[]> {
  const paths = [mutating, validating];
  const all = await Promise.all(paths.map((path) => cluster.api.get<Configuration>(path)));
  return all
    .flatMap(({ webhooks }) => webhooks)
    .map(({ clientConfig }) => fingerprintsIn(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()));
}

/** Waits until the Secret is complete and every caBundle contains its authority. */
const whole = (): Promise<State> =>
  eventually(async () => {
    const found = await state();
    for (const authorities of await trustedBy()) assert.ok(authorities.has(found.authority.fingerprint));
    return found;
  });

/** Waits until each replica serves a certificate of the authority. */
async function allServe({ authority }: State): Promise<void> {
  const { publicKey } = new X509Certificate(authority.certificate);
  for (const { pod: own } of replicas)
    await eventually(async () => {
      const socket = connect({ host: own.status.podIP, port: 8443, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      assert.ok(certificate?.verify(publicKey));
    });
}

/** Asserts that a pod gets its init container. */
async function admitted(): Promise<void> {
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('web'))), [validatorContainer]);
}
