import assert from 'node:assert/strict';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { beginLoad } from '../cluster/certificates/load.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { addNode } from '../cluster/harness/nodes.ts';
import { pod } from '../cluster/harness/objects.ts';
import { startCluster } from '../cluster/harness/start.ts';
import { shell as shellOf } from '../cluster/installed/guide.ts';
import { trusted } from '../cluster/installed/installation.ts';
import { held, Kubelet } from '../cluster/installed/kubelet.ts';
import { applyOwn, tryPod } from '../cluster/installed/overlay.ts';
import { bringNetwork, initNames, makeNamespace, type UserPod } from '../cluster/installed/working.ts';
import { blocks, pages } from '../support/pages.ts';
import { helmProgram } from './programs.ts';

/* Migrates from kustomize to Helm and back, with the commands of the guide, in a real control plane. */

/** Pods per second. */
const rate = 20;

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const cluster = await startCluster();
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await bringNetwork(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
const kubelet = new Kubelet(cluster);
after(() => kubelet.stop());

/** A folder with links to the checkout's manifests and chart, and with the user's values. */
const folder = mkdtempSync(join(tmpdir(), 'migration-'));
for (const name of ['charts', 'manifests']) symlinkSync(join(checkout, name), join(folder, name));
const values = { podAnnotations: held, mode: 'strict', replicas: 3 };
writeFileSync(join(folder, 'cni-gate-values.yaml'), JSON.stringify(values));

const [guide] = pages('docs/guides/install.md');
const section = guide?.text.split(/^### /m).find((text) => text.startsWith('From kustomize to Helm')) ?? '';
const [toHelm = '', fromHelm = ''] = blocks(section, 'console');

/** Runs a command of the guide in {@link folder}. */
const shell = (command: string): Promise<string> =>
  shellOf(cluster, command, { folder, path: [dirname(helmProgram.path)] });

const applyOverlay = (): Promise<void> =>
  applyOwn(cluster, {
    overlay: 'strict',
    fields: {
      patches: [
        {
          target: { kind: 'Deployment', name: 'cni-gate' },
          patch: JSON.stringify({
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            metadata: { name: 'cni-gate' },
            spec: { template: { metadata: { annotations: held } } },
          }),
        },
      ],
    },
  });

const ready = (): Promise<string> =>
  cluster.kubectl(['-n', 'cni-gate', 'rollout', 'status', 'deployment/cni-gate', '--timeout=60s']);

const releases = async (): Promise<unknown[]> => JSON.parse(await shell('helm list -n cni-gate -o json'));

async function assertProved(): Promise<void> {
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('web'))), [validatorContainer]);
}

await applyOverlay();
await ready();
await trusted(cluster);
// the API server calls the webhook only a moment after the caBundle is set
await eventually(assertProved);

test('from kustomize to Helm as the guide says: no pod is refused, and Helm upgrades the release', async (t) => {
  const load = beginLoad(t, cluster, rate);
  await load.more(rate);
  await shell(toHelm);
  await ready();
  await shell('helm upgrade cni-gate charts/cni-gate -n cni-gate -f cni-gate-values.yaml --set replicas=2');
  await ready();
  await load.more(rate);
  assert.deepEqual((await load.end()).failures, []);
  assert.equal((await releases()).length, 1);
  await assertProved();
});

test('back to kustomize as the guide says: no pod is refused, and Helm knows no release', async (t) => {
  const load = beginLoad(t, cluster, rate);
  await load.more(rate);
  await applyOverlay();
  await shell(fromHelm);
  await ready();
  await load.more(rate);
  assert.deepEqual((await load.end()).failures, []);
  assert.deepEqual(await releases(), []);
  await assertProved();
  assert.deepEqual(kubelet.failures, []);
});
