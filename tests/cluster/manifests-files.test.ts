import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { blocks, pages } from '../support/pages.ts';
import { startCluster } from './harness/start.ts';
import { shell } from './installed/guide.ts';
import { install } from './installed/installation.ts';
import { testThatItWorks } from './installed/working.ts';

/* A user's own certificate, created with the commands of the guide. */

const [guide] = pages('docs/guides/install.md');
const [, section = ''] = guide?.text.split('\n## Certificates of your own\n') ?? [];
const [commands = ''] = blocks(section, 'console');
assert.match(commands, /^openssl /);

const cluster = await startCluster({ audit: 'Metadata' });
const { replicas } = await install(cluster, 'files', async () => {
  await shell(cluster, commands, { folder: mkdtempSync(join(tmpdir(), 'cni-gate-files-')) });
});
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

testThatItWorks(cluster);

test('it has no right to Secrets or to webhook configurations, and asks for none', () => {
  const own = cluster
    .audited()
    .filter(({ user }) => user.username === 'system:serviceaccount:cni-gate:cni-gate');
  // cni-gate also requests /version, but that is not a resource
  const asked = new Set(own.flatMap(({ objectRef }) => objectRef?.resource ?? []));
  assert.deepEqual([...asked].sort(), ['daemonsets', 'leases', 'namespaces', 'nodes', 'pods']);
  const refused = own.filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0));
  assert.deepEqual(refused, []);
});
