import { installedWebhooks } from '../../../webhook/lib/names.ts';
import type { Cluster } from '../harness/cluster.ts';

/** What the user has to bring with the overlay `files`: the Secret, and the authority in our configuration. */
export async function bringCertificate(
  cluster: Cluster,
  names = ['cni-gate.cni-gate.svc'],
  secret = 'cni-gate-serving',
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
  for (const [kind, webhooks] of Object.entries(installedWebhooks)) {
    const operations = webhooks.map((_, index) => ({
      op: 'add',
      path: `/webhooks/${index}/clientConfig/caBundle`,
      value: caBundle,
    }));
    await cluster.kubectl([
      'patch',
      `${kind}webhookconfigurations`,
      'cni-gate',
      '--type=json',
      '-p',
      JSON.stringify(operations),
    ]);
  }
}
