import assert from 'node:assert/strict';
import { after } from 'node:test';
import { startCluster } from './harness/start.ts';
import { bringCertificate } from './installed/certificate.ts';
import { install } from './installed/installation.ts';
import { testThatItWorks } from './installed/working.ts';

/* cert-manager itself is not there: its kinds are, and this test does what it would do by what the overlay says. */

interface Certificate {
  metadata: { name: string; namespace: string };
  spec: { secretName: string; dnsNames?: string[]; issuerRef: { name: string } };
}

const cluster = await startCluster();
await cluster.apply(kind('Certificate'), kind('Issuer'));
for (const name of ['certificates', 'issuers']) {
  await cluster.kubectl(['wait', '--for=condition=Established', `crd/${name}.cert-manager.io`]);
}

/** Issues the certificate that the annotation names, into its Secret, and tells the API server whom to trust. */
async function certManager(): Promise<void> {
  const registration = await cluster.api.get<{ metadata: { annotations: Record<string, string> } }>(
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate',
  );
  const [namespace, name] =
    registration.metadata.annotations['cert-manager.io/inject-ca-from']?.split('/') ?? [];
  const folder = `/apis/cert-manager.io/v1/namespaces/${namespace}`;
  const { spec } = await cluster.api.get<Certificate>(`${folder}/certificates/${name}`);
  assert.ok(spec.dnsNames);
  await cluster.api.get(`${folder}/issuers/${spec.issuerRef.name}`);
  await bringCertificate(cluster, spec.dnsNames, spec.secretName);
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
