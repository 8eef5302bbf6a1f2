import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { installedWebhooks, validatorContainer } from '../../webhook/lib/names.ts';
import { blocks, pages } from '../support/pages.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { shell } from './installed/guide.ts';
import { install } from './installed/installation.ts';
import { apply, tryPod } from './installed/overlay.ts';
import { initNames, testThatItWorks, type UserPod } from './installed/working.ts';

/* cni-gate with a user's own certificate, created with the commands of the guide, and then with cert-manager's. */

const [guide] = pages('docs/guides/install.md');
const [, section = ''] = guide?.text.split('\n## Certificates of your own\n') ?? [];
const [commands = ''] = blocks(section, 'console');
assert.match(commands, /^openssl /);

const cluster = await startCluster();
const { replicas } = await install(cluster, 'files', async () => {
  await shell(cluster, commands, { folder: mkdtempSync(join(tmpdir(), 'cni-gate-files-')) });
});
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

testThatItWorks(cluster);

test('cni-gate has no right to Secrets or webhook configurations, and requests none', () => {
  const own = cluster
    .audited()
    .filter(({ user }) => user.username === 'system:serviceaccount:cni-gate:cni-gate');
  // cni-gate also requests /version, but that is not a resource
  const asked = new Set(own.flatMap(({ objectRef }) => objectRef?.resource ?? []));
  assert.deepEqual([...asked].sort(), ['daemonsets', 'leases', 'namespaces', 'nodes', 'pods']);
  const refused = own.filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0));
  assert.deepEqual(refused, []);
});

test("after the change to the overlay cert-manager, cert-manager's certificate is served and trusted", async () => {
  await cluster.apply(kind('Certificate'), kind('Issuer'));
  for (const name of ['certificates', 'issuers'])
    await cluster.kubectl(['wait', '--for=condition=Established', `crd/${name}.cert-manager.io`]);
  await apply(cluster, 'cert-manager');
  await certManager();
  await Promise.all(replicas.map((replica) => replica.refresh()));
  await eventually(async () => {
    const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
    assert.deepEqual(initNames(stored), [validatorContainer]);
  });
});

interface Certificate {
  spec: { secretName: string; dnsNames?: string[]; issuerRef: { name: string } };
}

/** Stands in for cert-manager, which does not run here: issues the certificate that the annotation names. */
async function certManager(): Promise<void> {
  const configurations = '/apis/admissionregistration.k8s.io/v1';
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
  await cluster.api.patch(`/api/v1/namespaces/cni-gate/secrets/${spec.secretName}`, {
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  });
  const value = Buffer.from(cluster.authority.pair.certificate).toString('base64');
  for (const [webhookKind, webhooks] of Object.entries(installedWebhooks)) {
    await cluster.api.request('PATCH', `${configurations}/${webhookKind}webhookconfigurations/cni-gate`, {
      type: 'application/json-patch+json',
      body: webhooks.map((_, index) => ({
        op: 'replace',
        path: `/webhooks/${index}/clientConfig/caBundle`,
        value,
      })),
    });
  }
}

/** The CustomResourceDefinition of one of cert-manager's kinds. */
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
