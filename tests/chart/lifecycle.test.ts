import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import { version } from '../../webhook/lib/version.ts';
import { beginLoad } from '../cluster/certificates/load.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { addNode } from '../cluster/harness/nodes.ts';
import { pod } from '../cluster/harness/objects.ts';
import { startCluster } from '../cluster/harness/start.ts';
import { shell } from '../cluster/installed/guide.ts';
import { trusted } from '../cluster/installed/installation.ts';
import { held, Kubelet } from '../cluster/installed/kubelet.ts';
import { tryPod } from '../cluster/installed/overlay.ts';
import { bringNetwork, makeNamespace, type UserPod } from '../cluster/installed/working.ts';
import { blocks, pages } from '../support/pages.ts';
import { chart, helm, helmProgram } from './programs.ts';

/* Installs, upgrades, rolls back and removes a release of the chart with Helm, in a real control plane. */

/** Pods per second. */
const rate = 20;
/** How long the replicas may take to become ready: on a busy machine, two that start together need most of a minute. */
const patience = '3m';

const cluster = await startCluster();
await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
await bringNetwork(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
await cluster.kubectl(['-n', 'kube-system', 'rollout', 'status', 'daemonset/cilium', '--timeout=30s']);
const before = await everything();
const kubelet = new Kubelet(cluster);
after(() => kubelet.stop());

const release = ['--namespace', 'cni-gate', '--kubeconfig', cluster.admin.kubeconfig];
const values = JSON.stringify({ mode: 'strict', podAnnotations: held });

/** Installs or upgrades the release, and waits until the new replicas are ready. */
const deploy = (command: string, from: string, more: string[] = []): Promise<string> =>
  helm(
    [command, 'cni-gate', from, ...release, '--values', '-', '--wait', '--timeout', patience, ...more],
    values,
  );

/** A copy of the chart that represents the previous release: it has another version, and so another image tag. */
function previousChart(): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'chart-')), 'cni-gate');
  cpSync(chart, copy, { recursive: true });
  const file = join(copy, 'Chart.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/ersion: \d+\.\d+\.\d+$/gm, 'ersion: 0.0.9'));
  return copy;
}

interface Deployment {
  spec: { template: { spec: { containers: { image: string }[] } } };
}

/** The tag of the image in the Deployment. */
async function tag(): Promise<string> {
  const { spec } = await cluster.api.get<Deployment>(
    '/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate',
  );
  return spec.template.spec.containers[0]?.image.split(':').at(-1) ?? '';
}

/** Kind, namespace and name of every object in the cluster except events. */
async function everything(): Promise<string[]> {
  const resources = await cluster.kubectl(['api-resources', '--verbs=list', '-o', 'name']);
  const kinds = resources.split('\n').filter((kind) => kind !== '' && !/^events(\.|$)/.test(kind));
  const columns = 'custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const text = await cluster.kubectl(['get', kinds.join(','), '-A', '--no-headers', '-o', columns]);
  const lines = text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim());
  return lines.filter((line) => line !== '').sort();
}

test('install: the replicas are ready, and helm test passes', async () => {
  await deploy('install', previousChart(), ['--create-namespace']);
  await trusted(cluster);
  assert.equal(await tag(), '0.0.9');
  await helm(['test', 'cni-gate', ...release, '--timeout', patience]);
  assert.deepEqual(kubelet.failures, []);
});

test('upgrade and rollback refuse none of 20 pods a second, and each is injected', async (t) => {
  const load = beginLoad(t, cluster, rate);
  await load.more(rate);
  await deploy('upgrade', chart);
  const upgraded = await tag();
  await load.more(rate);
  await helm(['rollback', 'cni-gate', ...release, '--wait', '--timeout', patience]);
  await load.more(rate);
  const { created, failures, seconds } = await load.end();
  t.diagnostic(`${created} pods in ${seconds.toFixed(1)} s`);
  assert.deepEqual(failures, []);
  assert.deepEqual(kubelet.failures, []);
  assert.deepEqual([upgraded, await tag()], [version, '0.0.9']);
});

const scale = (replicas: number): Promise<unknown> =>
  cluster.api.patch('/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate', { spec: { replicas } });

test('helm test runs the checks: it fails if the replicas are gone', async () => {
  await scale(0);
  await cluster.kubectl(['-n', 'cni-gate', 'wait', '--for=delete', 'pod', '--all', '--timeout=30s']);
  await assert.rejects(helm(['test', 'cni-gate', ...release, '--timeout', patience]), /cni-gate-test/);
  assert.match(String(kubelet.failures.pop()), /cni-gate-test ended with 1/);
});

test('uninstalling as the guide says refuses no pod, and leaves nothing', async () => {
  const [guide] = pages('docs/guides/install.md');
  const section = guide?.text.split(/^## /m).find((text) => text.startsWith('Helm\n')) ?? '';
  const block = blocks(section, 'console').find((commands) => commands.includes('helm uninstall'));
  assert.ok(block);
  const commands = block.split('\n');
  const path = [dirname(helmProgram.path)];
  await scale(2);
  await cluster.kubectl(['-n', 'cni-gate', 'rollout', 'status', 'deployment/cni-gate', '--timeout=3m']);
  await eventually(() => tryPod(cluster, 'shop', pod('free')));
  let going = true;
  const refused: unknown[] = [];
  const trying = (async () => {
    while (going) await tryPod(cluster, 'shop', pod('free')).catch((error) => refused.push(error));
  })();
  try {
    for (const command of commands) await shell(cluster, command, { path });
  } finally {
    going = false;
    await trying;
  }
  assert.deepEqual(refused, []);
  assert.deepEqual(await everything(), before);
});

test('installed again, with another registry: a pod gets its proof from there', async () => {
  await cluster.kubectl(['label', 'namespace', 'shop', `${profileLabel}=cilium`]);
  // retried until the API server knows that our policy binding is gone: kubernetes#130887
  await eventually(() => tryPod(cluster, 'shop', pod('free')));
  const images = ['image.repository=mirror.example/cni-gate', 'validatorImage.repository=mirror.example/v'];
  const more = ['--create-namespace', ...images.flatMap((value) => ['--set', value])];
  await deploy('install', chart, more);
  await trusted(cluster);
  await eventually(async () => {
    const { spec } = await tryPod<UserPod>(cluster, 'shop', pod('proved'));
    assert.equal(spec.initContainers?.[0]?.image, `mirror.example/v:${version}`);
  });
  assert.deepEqual(kubelet.failures, []);
});
