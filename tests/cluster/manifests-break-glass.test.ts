import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optOutValue, profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { commandsOf, shell } from './installed/guide.ts';
import { installed } from './installed/installation.ts';
import { tryPod } from './installed/overlay.ts';
import { deployment, initNames, makeNamespace, runningPod, type UserPod } from './installed/working.ts';

/* Runs the commands of the guides verbatim. `REGISTRY` is the overlay's registry: no kubelet pulls images here. */

const { cluster, replicas } = await installed('strict');
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

async function runCommands(lines: string[]): Promise<void> {
  for (const line of lines) await shell(cluster, line, { env: { REGISTRY: 'ghcr.io/cni-gate' } });
}

const inits = async (name: string, metadata: object = {}): Promise<string[]> =>
  initNames(await tryPod<UserPod>(cluster, 'shop', pod(name, {}, metadata)));

test('one command removes what blocks pods', async () => {
  await runCommands(commandsOf('break-glass', /^## The whole cluster/m));
  await eventually(async () => assert.deepEqual(await inits('free'), []));
});

test('applying the overlay restores cni-gate, and the API server trusts it again', async () => {
  await runCommands(commandsOf('break-glass', /^## Restore/m));
  await eventually(async () => assert.deepEqual(await inits('proved'), [validatorContainer]));
});

test('with no replica running, a pod is exempt by its label', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await assert.rejects(inits('held'), /failed calling webhook/);
  assert.deepEqual(await inits('free', { labels: { [profileLabel]: optOutValue } }), []);
});

test('with no replica running, a namespace is exempt by its label', async () => {
  await runCommands(commandsOf('break-glass', /^## One namespace/m));
  await eventually(async () => assert.deepEqual(await inits('free'), []));
});

test('uninstalling blocks no pod, and leaves nothing', async () => {
  await cluster.kubectl(['label', 'namespace', 'shop', `${profileLabel}=cilium`]);
  await eventually(() => assert.rejects(inits('held'), /failed calling webhook/));
  const [first = '', ...rest] = commandsOf('install', /^## Uninstall/m);
  await runCommands([first]);
  await eventually(async () => assert.deepEqual(await inits('free'), []));
  await runCommands(rest);
  await cluster.kubectl(['-n', 'shop', 'apply', '-f', '-'], { input: [deployment('web')] });
  assert.deepEqual(initNames(await runningPod(cluster, 'shop', 'web')), ['migrate']);
  assert.equal(await left(), '');
});

function left(): Promise<string> {
  const kinds = [
    ...['namespaces', 'clusterroles', 'clusterrolebindings', 'mutatingwebhookconfigurations'],
    'validatingwebhookconfigurations',
    ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  ].join(',');
  return cluster.kubectl(['get', kinds, '-l', 'app.kubernetes.io/part-of=cni-gate', '-o', 'name']);
}
