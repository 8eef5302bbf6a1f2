import assert from 'node:assert/strict';
import { after } from 'node:test';
import { profileLabel } from '../../../webhook/lib/names.ts';
import { Api } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { namespace } from '../harness/objects.ts';
import { startCluster } from '../harness/start.ts';
import { apply, byPolicy } from './overlay.ts';

export const policy = 'service-account.cni-gate.io';

export const refused = (attempt: Promise<unknown>, what?: string): Promise<void> =>
  assert.rejects(attempt, (error: unknown) => byPolicy(error, policy), what);

/** For each field of an object's metadata, a value that the policy forbids our service account to write. */
export const metadata: Record<string, unknown> = {
  annotations: { a: 'b' },
  finalizers: ['example.com/never'],
  labels: {},
  ownerReferences: [
    { apiVersion: 'v1', kind: 'Namespace', name: 'x', uid: '00000000-0000-0000-0000-000000000000' },
  ],
};

/** A cluster with the overlay `strict`. `api` acts as cni-gate's service account, which has the role cluster-admin. */
export async function startWithTooMuch(): Promise<{ cluster: Cluster; api: Api }> {
  const cluster = await startCluster();
  await apply(cluster, 'strict');
  await cluster.kubectl([
    ...['create', 'clusterrolebinding', 'too-much', '--clusterrole=cluster-admin'],
    '--serviceaccount=cni-gate:cni-gate',
  ]);
  const api = new Api(await cluster.serviceAccount('cni-gate', 'cni-gate'));
  after(() => api.close());
  // policies and roles take effect a moment after they are stored, and no event announces it
  await eventually(() => refused(api.post('/api/v1/namespaces?dryRun=All', namespace('probe'))));

  await cluster.apply(
    namespace('shop', { [profileLabel]: 'cilium' }),
    namespace('plain'),
    namespace('declined', { [profileLabel]: 'none' }),
  );
  return { cluster, api };
}
