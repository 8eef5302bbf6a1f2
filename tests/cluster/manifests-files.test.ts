import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { profileLabel, validatorContainer } from '../../webhook/names.ts';
import { Cluster } from './harness/cluster.ts';
import { install } from './installed/installation.ts';
import { namespace, pod } from './installed/overlay.ts';

interface Pod {
  spec: { initContainers?: { name: string }[] };
}

const cluster = await Cluster.start();
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

test('the overlay files serves with a certificate that somebody else brings', async () => {
  await cluster.kubectl(['apply', '-f', '-'], { input: [namespace('shop', { [profileLabel]: 'cilium' })] });
  await cluster.api.until('/api/v1/namespaces/shop/serviceaccounts', () => true);
  const stored = await cluster.api.post<Pod>('/api/v1/namespaces/shop/pods', pod('web'));
  assert.equal(stored.spec.initContainers?.[0]?.name, validatorContainer);
});
