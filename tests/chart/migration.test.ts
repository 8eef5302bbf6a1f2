import assert from 'node:assert/strict';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { beginLoad } from '../cluster/certificates/load.ts';
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
/** Writes the file with the user's values. */
const setValues = (more: object): void =>
  writeFileSync(join(folder, 'cni-gate-values.yaml'), JSON.stringify({ podAnnotations: held, ...more }));

const [guide] = pages('docs/guides/install.md');
const section = guide?.text.split(/^### /m).find((text) => text.startsWith('From kustomize to Helm')) ?? '';
const [toHelm = '', fromHelm = ''] = blocks(section, 'console');

/** Runs a command of the guide in that folder. */
const shell = (command: string): Promise<string> =>
  shellOf(cluster, command, { folder, path: [dirname(helmProgram.path)] });

const applyOverlay = (overlay: 'permissive' | 'strict'): Promise<void> =>
  applyOwn(cluster, {
    overlay,
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

/** Names, generations and labels of the installation's Deployment, webhook configuration and policies. */
const versions = (): Promise<string> => {
  const kinds = ['deployments', 'mutatingwebhookconfigurations', 'validatingadmissionpolicies'].join(',');
  const columns =
    'custom-columns=NAME:.metadata.name,GENERATION:.metadata.generation,LABELS:.metadata.labels';
  return cluster.kubectl([
    '-n',
    'cni-gate',
    'get',
    kinds,
    '-l',
    'app.kubernetes.io/part-of=cni-gate',
    '-o',
    columns,
  ]);
};

const releases = async (): Promise<unknown[]> => JSON.parse(await shell('helm list -n cni-gate -o json'));

/** What an installation enforces: its configuration, the policy's binding, and the webhooks' failure policies. */
async function modes(): Promise<unknown> {
  const read = <T>(path: string): Promise<T> => cluster.api.get<T>(path);
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const [{ data }, { spec }, { webhooks }] = await Promise.all([
    read<{ data: Record<string, string> }>('/api/v1/namespaces/cni-gate/configmaps/cni-gate'),
    read<{ spec: object }>(`${admission}/validatingadmissionpolicybindings/pods.cni-gate.io`),
    read<{ webhooks: { failurePolicy: string }[] }>(`${admission}/mutatingwebhookconfigurations/cni-gate`),
  ]);
  return [parse(data['config.yaml'] ?? ''), spec, webhooks.map(({ failurePolicy }) => failurePolicy)];
}

async function assertProved(): Promise<void> {
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('web'))), [validatorContainer]);
}

test('helm install over kustomize fails with a clear error, and changes nothing', async () => {
  setValues({ mode: 'strict', replicas: 3 });
  await applyOverlay('strict');
  await ready();
  await trusted(cluster);
  const before = await versions();
  await assert.rejects(
    shell(toHelm.replace(/ --take-ownership --force-conflicts/, '')),
    /invalid ownership metadata/,
  );
  assert.equal(await versions(), before);
  assert.deepEqual(await releases(), []);
});

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
  await applyOverlay('strict');
  await shell(fromHelm);
  await ready();
  await load.more(rate);
  assert.deepEqual((await load.end()).failures, []);
  assert.deepEqual(await releases(), []);
  await assertProved();
  assert.deepEqual(kubelet.failures, []);
});

// the last test, because Helm's metadata stays on the objects and would let a later `helm install` succeed
test('from kustomize to Helm and back, with the defaults of both', async () => {
  setValues({});
  await applyOverlay('permissive');
  await ready();
  await trusted(cluster);
  const before = await modes();
  await shell(toHelm);
  await ready();
  await assertProved();
  assert.deepEqual(await modes(), before);
  await applyOverlay('permissive');
  await shell(fromHelm);
  await ready();
  assert.deepEqual([await releases(), await modes()], [[], before]);
});
