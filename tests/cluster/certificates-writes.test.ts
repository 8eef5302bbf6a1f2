import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { carryOut } from '../../certs/managed/carry-out.ts';
import { type SecretData, secretData } from '../../certs/managed/secret.ts';
import { SharedOverApi } from '../../webhook/certificates/over-api.ts';
import { ChangedSince, type SeenConfiguration } from '../../webhook/certificates/shared.ts';
import { openCluster } from '../../webhook/kubernetes/open.ts';
import {
  configurationPath,
  Installation,
  namespace,
  secretName,
  secretPath,
} from './certificates/installation.ts';
import { Cluster } from './harness/cluster.ts';

const cluster = await Cluster.start();
after(() => cluster.stop());
const installation = await Installation.make(cluster);
const client = await openCluster(installation.access.kubeconfig);
after(() => client.close());

/** What one replica reads and writes. No replica runs beside it: here the test is who is faster. */
const shared = new SharedOverApi(
  client,
  {
    namespace,
    secret: secretName,
    service: 'cni-gate',
    configurations: [
      { kind: 'mutating', name: 'cni-gate' },
      { kind: 'validating', name: 'cni-gate' },
    ],
  },
  () => new Date(),
);

async function made(): Promise<SecretData> {
  const making = { authorityDays: 30, leafDays: 7, names: ['x.svc'], now: new Date() };
  const state = await carryOut({ do: 'create' }, making);
  assert.ok(state);
  return secretData(state);
}

const [first, second, third] = await Promise.all([made(), made(), made()]);
await shared.write(first, undefined);

test('of two that make the Secret the second reads again', async () => {
  await assert.rejects(shared.write(second, undefined), ChangedSince);
  assert.deepEqual(await installation.data(), first);
});

test('a Secret that somebody changed after it was read is left as they wrote it', async () => {
  const seen = await shared.secret();
  await installation.setData(second);
  await assert.rejects(shared.write(third, seen), ChangedSince);
  assert.deepEqual(await installation.data(), second);
});

test('and so is one that was made anew under the same name', async () => {
  const seen = await shared.secret();
  await cluster.api.delete(secretPath);
  await assert.rejects(shared.write(third, seen), ChangedSince, 'while it is away');
  await shared.write(first, undefined);
  await assert.rejects(shared.write(third, seen), ChangedSince, 'once it is back');
  assert.deepEqual(await installation.data(), first);
});

test('the caBundle of a configuration that somebody changed after it was read is left as they wrote it', async () => {
  const [seen] = await mutating();
  const { webhooks } = await cluster.api.get<{ webhooks: { clientConfig: { caBundle?: string } }[] }>(
    configurationPath,
  );
  for (const { clientConfig } of webhooks) {
    clientConfig.caBundle = Buffer.from(second['ca.crt'] ?? '').toString('base64');
  }
  await cluster.api.patch(configurationPath, { webhooks });
  await assert.rejects(shared.trust(seen, third['ca.crt'] ?? ''), ChangedSince);
  const [changed] = await mutating();
  assert.deepEqual(changed.bundles, [second['ca.crt']]);
  assert.notEqual(changed.version, seen.version, 'the time of trust begins anew');
  await shared.trust(changed, third['ca.crt'] ?? '');
  assert.deepEqual((await mutating())[0].bundles, [third['ca.crt']]);
});

async function mutating(): Promise<[SeenConfiguration]> {
  const { configurations } = await shared.configurations();
  const found = configurations.find(({ name }) => name === 'mutating/cni-gate');
  assert.ok(found);
  return [found];
}
