import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster } from './harness/cluster.ts';
import { bringCertificate } from './installed/certificate.ts';
import { install } from './installed/installation.ts';
import { testThatItWorks } from './installed/working.ts';

const cluster = await Cluster.start({ audit: 'Metadata' });
after(() => cluster.stop());

const { replicas } = await install(cluster, 'files', () => bringCertificate(cluster));
after(() => Promise.all(replicas.map((replica) => replica.end())));

testThatItWorks(cluster);

test('it has no right to Secrets or to webhook configurations, and asks for none', () => {
  const own = cluster
    .audited<{
      user: { username: string };
      objectRef?: { resource: string };
      responseStatus: { code: number };
    }>()
    .filter(({ user }) => user.username === 'system:serviceaccount:cni-gate:cni-gate');
  // besides these only /version, which is no resource
  const asked = new Set(own.flatMap(({ objectRef }) => objectRef?.resource ?? []));
  assert.deepEqual([...asked].sort(), ['daemonsets', 'leases', 'namespaces', 'nodes', 'pods']);
  const refused = own.filter(({ responseStatus: { code } }) => code === 401 || code === 403);
  assert.deepEqual(refused, []);
});
