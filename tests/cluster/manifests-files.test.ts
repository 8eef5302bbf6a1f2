import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster } from './harness/cluster.ts';
import { install } from './installed/installation.ts';
import { testThatItWorks } from './installed/working.ts';

const cluster = await Cluster.start({ audit: 'Metadata' });
after(() => cluster.stop());

/** What somebody has to bring: the Secret, and the authority in the webhook's configuration. */
async function bringCertificate(): Promise<void> {
  const { certificate, key } = await cluster.authority.serving(['cni-gate.cni-gate.svc']);
  await cluster.api.post('/api/v1/namespaces/cni-gate/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: 'cni-gate-tls' },
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  });
  const caBundle = Buffer.from(cluster.authority.pair.certificate).toString('base64');
  await cluster.kubectl([
    ...['patch', 'mutatingwebhookconfigurations', 'cni-gate', '--type=json', '-p'],
    JSON.stringify([{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle }]),
  ]);
}

const { replicas } = await install(cluster, 'files', bringCertificate);
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
  assert.deepEqual([...new Set(own.map(({ objectRef }) => objectRef?.resource))], ['namespaces']);
  assert.deepEqual([...new Set(own.map(({ responseStatus }) => responseStatus.code))], [200]);
});
