import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serverImage, validatorImage } from '../../webhook/lib/images.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { addNode } from '../cluster/harness/nodes.ts';
import { startCluster } from '../cluster/harness/start.ts';
import { endpoints, runningPods, trusted } from '../cluster/installed/installation.ts';
import { pod, tryPod } from '../cluster/installed/overlay.ts';
import { startPod } from '../cluster/installed/pod.ts';
import { initNames, testThatItWorks, type UserPod } from '../cluster/installed/working.ts';
import { run } from '../support/run.ts';

/* The single files of a release, applied to a control plane in which there is nothing yet. */

const folder = mkdtempSync(join(tmpdir(), 'release-'));
await run(process.execPath, [fileURLToPath(new URL('../../release/build.ts', import.meta.url)), folder]);
const cluster = await startCluster();
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);

const apply = (name: string): Promise<string> =>
  cluster.kubectl(['apply', '--validate=strict', '-f', join(folder, name)]);
await apply('install.yaml');
const pods = await runningPods(cluster, 2);
const replicas = await Promise.all(pods.map((stored) => startPod(cluster, stored)));
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
await endpoints(cluster, 2);
await trusted(cluster);

testThatItWorks(cluster);

test('the images are those of the release', () => {
  const written = readFileSync(join(folder, 'install.yaml'), 'utf8');
  for (const image of [serverImage, validatorImage]) assert.ok(written.includes(`image: ${image}\n`), image);
});

test('with install-permissive.yaml a pod is created while no replica answers', async () => {
  await apply('install-permissive.yaml');
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await eventually(async () => {
    assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('late'))), []);
  });
});
