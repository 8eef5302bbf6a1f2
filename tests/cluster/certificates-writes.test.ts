import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ApiObjects, type ConfigurationSnapshot, Conflict } from '../../certs/objects.ts';
import { newAuthority } from '../../certs/rotation.ts';
import { type SecretData, secretData } from '../../certs/state.ts';
import { openCluster } from '../../webhook/cluster/open.ts';
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
const shared = new ApiObjects(client, {
  namespace,
  secret: secretName,
  service: 'cni-gate',
  configurations: ['mutating/cni-gate', 'validating/cni-gate'],
});

const made = (): SecretData => secretData({ authority: newAuthority(30, new Date()) });
const [first, second, third] = [made(), made(), made()];
await shared.write(first, undefined);

test('of two that make the Secret the second reads again', async () => {
  await assert.rejects(shared.write(second, undefined), Conflict);
  assert.deepEqual(await installation.data(), first);
});

test('a Secret that somebody changed after it was read is left as they wrote it', async () => {
  const seen = await shared.secret();
  await installation.setData(second);
  await assert.rejects(shared.write(third, seen), Conflict);
  assert.deepEqual(await installation.data(), second);
});

test('and so is one that was made anew under the same name', async () => {
  const seen = await shared.secret();
  await cluster.api.delete(secretPath);
  await assert.rejects(shared.write(third, seen), Conflict, 'while it is away');
  await shared.write(first, undefined);
  await assert.rejects(shared.write(third, seen), Conflict, 'once it is back');
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
  await assert.rejects(shared.trust(seen, third['ca.crt'] ?? ''), Conflict);
  const [changed] = await mutating();
  assert.deepEqual(changed.bundles, [second['ca.crt']]);
  assert.notEqual(changed.version, seen.version, 'the time of trust begins anew');
  await shared.trust(changed, third['ca.crt'] ?? '');
  assert.deepEqual((await mutating())[0].bundles, [third['ca.crt']]);
});

async function mutating(): Promise<[ConfigurationSnapshot]> {
  const { found: all } = await shared.configurations();
  const found = all.find(({ name }) => name === 'mutating/cni-gate');
  assert.ok(found);
  return [found];
}
