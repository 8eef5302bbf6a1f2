import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import { cniGate } from '../../support/command.ts';
import { eventually } from '../harness/eventually.ts';
import { pod } from '../harness/objects.ts';
import { installed } from '../installed/installation.ts';
import { apply } from '../installed/overlay.ts';
import { bringNetwork, calls, initNames, makeNamespace, type UserPod } from '../installed/working.ts';

/* An upgrade of the API server from a version without mutating policies, on the same etcd, with `strict` installed. */

const found = (process.env.CNI_GATE_PROGRAMS ?? '')
  .split(':')
  .map((folder) => join(folder, 'kube-apiserver'))
  .filter(existsSync);
const [older, newer] = found;
if (older === undefined || newer === undefined)
  throw new Error('NOT RUN: two versions are needed: tests/cluster/versions.sh v1.35.4 versions/upgrade');

const link = join(mkdtempSync(join(tmpdir(), 'version-')), 'kube-apiserver');
symlinkSync(older, link);
const { cluster } = await installed('strict', {
  enclose: (component, [path, args]) => [component === 'kube-apiserver' ? link : path, args],
});
const { api, components } = cluster;

/** The first line of `check`, and its exit code. */
const check = (): [string | undefined, number | null] => {
  const { stdout, status } = cniGate(['check', '--kubeconfig', cluster.admin.kubeconfig]);
  return [stdout.split('\n')[0], status];
};

/** Creates pods. Returns how many calls of our webhook they cause. */
async function create(prefix: string): Promise<number> {
  const before = await calls(cluster);
  for (const at of [0, 1, 2]) {
    const stored = await api.post<UserPod>('/api/v1/namespaces/shop/pods', pod(`${prefix}-${at}`));
    assert.deepEqual(initNames(stored), [validatorContainer]);
  }
  return (await calls(cluster)) - before;
}

const version = async (): Promise<string> => (await api.get<{ gitVersion: string }>('/version')).gitVersion;

test('before: the webhook injects the proof, and check reports no problem', async () => {
  assert.match(await version(), /^v1\.35\./);
  await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
  await bringNetwork(cluster);
  assert.equal(await create('before'), 3);
  assert.match(String(check()), /^All \d+ checks passed\.,0$/);
});

test('after: nothing changes, and check still passes', async () => {
  const server = components['kube-apiserver'];
  await server.stop();
  rmSync(link);
  symlinkSync(newer, link);
  await server.start();
  assert.match(await eventually(version), /^v1\.(3[6-9]|[4-9]\d)\./);
  const { items } = await api.get<{ items: UserPod[] }>('/api/v1/namespaces/shop/pods');
  assert.deepEqual(
    items.map((one) => initNames(one)),
    Array(3).fill([validatorContainer]),
  );
  await eventually(async () => assert.equal(await create(`after-${Date.now()}`), 3));
  await eventually(async () => assert.match(String(check()), /^All \d+ checks passed\.,0$/));
});

test('with strict-policies, creations cause no call', async () => {
  await apply(cluster, 'strict-policies');
  await eventually(async () => assert.equal(await create(`policies-${Date.now()}`), 0));
  await eventually(async () => assert.match(String(check()), /^All \d+ checks passed\.,0$/));
});
