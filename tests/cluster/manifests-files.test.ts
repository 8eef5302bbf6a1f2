import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Status } from '../../webhook/report/status/status.ts';
import { cniGate } from '../support/command.ts';
import { blocks } from '../support/pages.ts';
import { eventually } from './harness/eventually.ts';
import { startCluster } from './harness/start.ts';
import { bringCertificate } from './installed/certificate.ts';
import { shell } from './installed/guide.ts';
import { install } from './installed/installation.ts';
import { testThatItWorks } from './installed/working.ts';

const cluster = await startCluster({ audit: 'Metadata' });

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

const trusted = 'every caBundle trusts the certificate in Secret cni-gate/cni-gate-serving';

test('status finds the certificate in the Secret that the user brought, and tells when it is not trusted', async () => {
  const certificate = (): Status['installation'][number] | undefined => {
    const { stdout } = cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, '-o', 'json', '--probe']);
    const { installation, probe }: Status = JSON.parse(stdout);
    assert.equal(probe?.outcome, 'injected');
    return installation.find(({ id }) => id === 'certificate');
  };
  const found = certificate();
  assert.deepEqual([found?.result, found?.what], ['passed', trusted]);
  // what the replicas serve stays as it is: their volume is not written anew here
  const { certificate: other, key } = await cluster.authority.serving(['other.cni-gate.svc']);
  await cluster.api.patch('/api/v1/namespaces/cni-gate/secrets/cni-gate-serving', {
    stringData: { 'tls.crt': other, 'tls.key': key },
  });
  await eventually(async () => {
    const seen = certificate();
    assert.equal(seen?.result, 'failed');
    assert.match(seen.what, /the certificate is for other\.cni-gate\.svc, not for cni-gate\.cni-gate\.svc/);
  });
});

test("the guide's commands: a certificate of one's own, which every caBundle trusts", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-files-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const guide = readFileSync(fileURLToPath(new URL('../../docs/guides/install.md', import.meta.url)), 'utf8');
  const [commands = ''] = blocks(guide.slice(guide.indexOf('\n## Certificates of your own')), 'console');
  assert.match(commands, /^openssl /);
  await cluster.api.delete('/api/v1/namespaces/cni-gate/secrets/cni-gate-serving');
  await shell(cluster, commands, { folder });
  // what the replicas serve is not written anew here, so only what status reads is looked at
  const { stdout } = cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, '-o', 'json']);
  const { installation }: Status = JSON.parse(stdout);
  const { result, what } = installation.find(({ id }) => id === 'certificate') ?? {};
  assert.deepEqual([result, what], ['passed', trusted]);
});
