import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { validatorContainer } from '../../webhook/names.ts';
import { Cluster } from './harness/cluster.ts';
import { ClusterAuthority } from './harness/pki.ts';
import { startServer } from './harness/server.ts';
import { serviceAt } from './harness/service.ts';

const own = { namespace: 'cni-gate', name: 'cni-gate' };
const folder = mkdtempSync(join(tmpdir(), 'clients-'));
const authority = await ClusterAuthority.create();
const shown = await authority.client('kube-apiserver');

function save(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** What gives the API server a certificate for the webhook, as the guide says it. */
const users = [
  {
    name: `${own.name}.${own.namespace}.svc`,
    user: {
      'client-certificate': save('api.crt', shown.certificate),
      'client-key': save('api.key', shown.key),
    },
  },
];
const kubeConfigFile = save(
  'webhooks.kubeconfig',
  JSON.stringify({ apiVersion: 'v1', kind: 'Config', users }),
);
const apiVersion = 'apiserver.config.k8s.io/v1';
const plugin = { apiVersion, kind: 'WebhookAdmissionConfiguration', kubeConfigFile };
const admission = {
  apiVersion,
  kind: 'AdmissionConfiguration',
  plugins: [{ name: 'MutatingAdmissionWebhook', configuration: plugin }],
};
const cluster = await Cluster.start({
  flags: {
    'kube-apiserver': [
      `--admission-control-config-file=${save('admission.json', JSON.stringify(admission))}`,
    ],
  },
});
after(() => cluster.stop());
const authorityFile = join(folder, 'webhook-authority.pem');
const server = await startServer({
  host: '10.254.1.1',
  args: [
    ...['--profile', 'cilium', '--tls-ca-out', authorityFile],
    ...['--tls-names', `${own.name}.${own.namespace}.svc`, `alias.${own.namespace}.svc`],
    ...['--client-ca', save('clients.crt', authority.pair.certificate), '--client-name', 'kube-apiserver'],
  ],
});
after(() => server.end());
await cluster.kubectl(['apply', '-f', '-'], {
  input: [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: own.namespace } },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { opted: 'in' } } },
    ...serviceAt(own.namespace, own.name, [server]),
    registration('with', own.name),
    // the API server has a certificate for the first name alone
    ...serviceAt(own.namespace, 'alias', [server]),
  ],
});

test('an API server that shows its certificate is answered', async () => {
  const { spec } = await createPod();
  assert.equal(spec.initContainers?.[0]?.name, validatorContainer);
});

test('an API server that shows none is refused: its user is told of credentials, and our log why', async () => {
  await cluster.kubectl(['delete', 'mutatingwebhookconfiguration', 'with']);
  await cluster.kubectl(['apply', '-f', '-'], { input: [registration('without', 'alias')] });
  await assert.rejects(createPod(), /failed calling webhook.*asked for the client to provide credentials/s);
  assert.ok(server.lines.some(({ code }) => code === 'CNI_GATE_CLIENT_CERTIFICATE'));
});

function createPod(): Promise<{ spec: { initContainers?: { name: string }[] } }> {
  return cluster.api.post('/api/v1/namespaces/shop/pods?dryRun=All', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'web-' },
    spec: { containers: [{ name: 'web', image: 'example/web' }] },
  });
}

function registration(name: string, service: string): object {
  const caBundle = readFileSync(authorityFile).toString('base64');
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'pods.cni-gate.io',
        clientConfig: {
          service: { namespace: own.namespace, name: service, path: '/mutate', port: 443 },
          caBundle,
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { opted: 'in' } },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
}
