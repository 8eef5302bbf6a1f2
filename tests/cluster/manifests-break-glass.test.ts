import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { optOutValue, profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { run } from '../support/run.ts';
import { eventually } from './harness/eventually.ts';
import { programPath } from './harness/programs.ts';
import { installed } from './installed/installation.ts';
import { pod, tryPod } from './installed/overlay.ts';
import { deployment, initNames, makeNamespace, runningPod, type UserPod } from './installed/working.ts';

/*
 * The commands are those of the guides, word by word, run by a shell in the checkout. Their images stay those that the
 * overlay names: others would make new pods, which nobody runs here.
 */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const registry = 'ghcr.io/cni-gate';
const { cluster, replicas } = await installed('strict');
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

/** Lines of kubectl in a section of a guide. */
function commands(guide: string, section: RegExp): string[] {
  const text = readFileSync(`${checkout}docs/guides/${guide}.md`, 'utf8');
  const [, part = ''] = text.split(section);
  return (part.split(/^#/m)[0] ?? '').match(/^kubectl .*$/gm) ?? [];
}

async function runCommands(lines: string[]): Promise<void> {
  assert.ok(lines.length > 0, 'no command in the guide');
  const env = {
    ...process.env,
    REGISTRY: registry,
    KUBECONFIG: cluster.admin.kubeconfig,
    PATH: `${dirname(programPath('kubectl'))}:${process.env.PATH}`,
  };
  for (const line of lines) {
    await run('bash', ['-euo', 'pipefail', '-c', `cd '${checkout}'; ${line}`], '', env);
  }
}

const inits = async (name: string, metadata: object = {}): Promise<string[]> =>
  initNames(await tryPod<UserPod>(cluster, 'shop', pod(name, {}, metadata)));

test('one command takes away what stands in the way of pods', async () => {
  await runCommands(commands('break-glass', /^## The whole cluster/m));
  await eventually(async () => assert.deepEqual(await inits('free'), []));
});

test('it comes back by the overlay alone, and is trusted again', async () => {
  await runCommands(commands('break-glass', /^## Restore/m));
  await eventually(async () => assert.deepEqual(await inits('proved'), [validatorContainer]));
});

test('with no replica running a pod goes free by its label', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await assert.rejects(inits('held'), /failed calling webhook/);
  assert.deepEqual(await inits('free', { labels: { [profileLabel]: optOutValue } }), []);
});

test('with no replica running a namespace goes free by its label', async () => {
  await runCommands(commands('break-glass', /^## One namespace/m));
  await eventually(async () => assert.deepEqual(await inits('free'), []));
});

test('to leave for good holds up no pod, and leaves nothing', async () => {
  await cluster.kubectl(['label', 'namespace', 'shop', `${profileLabel}=cilium`]);
  await eventually(() => assert.rejects(inits('held'), /failed calling webhook/));
  const [first = '', ...rest] = commands('install', /^## Uninstall/m);
  await runCommands([first]);
  await eventually(async () => assert.deepEqual(await inits('free'), []));
  await runCommands(rest);
  await cluster.kubectl(['-n', 'shop', 'apply', '-f', '-'], { input: [deployment('web')] });
  assert.deepEqual(initNames(await runningPod(cluster, 'shop', 'web')), ['migrate']);
  assert.equal(await left(), '');
});

/** Every object of ours that is not in a namespace, and the namespace. */
function left(): Promise<string> {
  const kinds = [
    ...['namespaces', 'clusterroles', 'clusterrolebindings', 'mutatingwebhookconfigurations'],
    'validatingwebhookconfigurations',
    ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
  ].join(',');
  return cluster.kubectl(['get', kinds, '-l', 'app.kubernetes.io/part-of=cni-gate', '-o', 'name']);
}
