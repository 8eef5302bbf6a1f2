import type { Cluster } from '../harness/cluster.ts';

/** What somebody else has to bring with the overlay `files`: the Secret, and the authority in our configuration. */
export async function bringCertificate(
  cluster: Cluster,
  names = ['cni-gate.cni-gate.svc'],
  secret = 'cni-gate-tls',
): Promise<void> {
  const { certificate, key } = await cluster.authority.serving(names);
  await cluster.api.post('/api/v1/namespaces/cni-gate/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { name: secret },
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  });
  const caBundle = Buffer.from(cluster.authority.pair.certificate).toString('base64');
  await cluster.kubectl([
    ...['patch', 'mutatingwebhookconfigurations', 'cni-gate', '--type=json', '-p'],
    JSON.stringify([{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle }]),
  ]);
}
