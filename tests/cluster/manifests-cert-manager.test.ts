import assert from 'node:assert/strict';
import { after } from 'node:test';
import { installedWebhooks } from '../../webhook/lib/names.ts';
import { startCluster } from './harness/start.ts';
import { install } from './installed/installation.ts';
import { testThatItWorks } from './installed/working.ts';

/*
 * cert-manager does not run here. Only its kinds exist, and the test does what cert-manager would do with the objects
 * of the overlay.
 */

interface Certificate {
  metadata: { name: string; namespace: string };
  spec: { secretName: string; dnsNames?: string[]; issuerRef: { name: string } };
}

const cluster = await startCluster();
await cluster.apply(kind('Certificate'), kind('Issuer'));
for (const name of ['certificates', 'issuers']) {
  await cluster.kubectl(['wait', '--for=condition=Established', `crd/${name}.cert-manager.io`]);
}

const configurations = '/apis/admissionregistration.k8s.io/v1';

/** Issues the certificate that the annotation names, stores it in its Secret, and sets the webhooks' caBundle. */
async function certManager(): Promise<void> {
  const registration = await cluster.api.get<{ metadata: { annotations: Record<string, string> } }>(
    `${configurations}/mutatingwebhookconfigurations/cni-gate`,
  );
  const [namespace, name] =
    registration.metadata.annotations['cert-manager.io/inject-ca-from']?.split('/') ?? [];
  const folder = `/apis/cert-manager.io/v1/namespaces/${namespace}`;
  const { spec } = await cluster.api.get<Certificate>(`${folder}/certificates/${name}`);
  assert.ok(spec.dnsNames);
  await cluster.api.get(`${folder}/issuers/${spec.issuerRef.name}`);
  const { certificate, key } = await cluster.authority.serving(spec.dnsNames);
  await cluster.api.post('/api/v1/namespaces/cni-gate/secrets', {
    type: 'kubernetes.io/tls',
    metadata: { name: spec.secretName },
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  });
  const value = Buffer.from(cluster.authority.pair.certificate).toString('base64');
  for (const [webhookKind, webhooks] of Object.entries(installedWebhooks)) {
    await cluster.api.request('PATCH', `${configurations}/${webhookKind}webhookconfigurations/cni-gate`, {
      type: 'application/json-patch+json',
      body: webhooks.map((_, index) => ({
        op: 'add',
        path: `/webhooks/${index}/clientConfig/caBundle`,
        value,
      })),
    });
  }
}

const { replicas } = await install(cluster, 'cert-manager', certManager);
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

testThatItWorks(cluster);

function kind(name: string): object {
  const plural = `${name.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.cert-manager.io` },
    spec: {
      group: 'cert-manager.io',
      scope: 'Namespaced',
      names: { kind: name, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
