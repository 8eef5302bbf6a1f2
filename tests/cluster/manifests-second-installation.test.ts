import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { serverImage, validatorImage } from '../../webhook/lib/images.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { cniGate } from '../support/command.ts';
import { eventually } from './harness/eventually.ts';
import { startCluster } from './harness/start.ts';
import { commandsOf, shell } from './installed/guide.ts';
import { install, startReplicas } from './installed/installation.ts';
import { pod, policyName, tryPod } from './installed/overlay.ts';
import type { RunningPod } from './installed/pod.ts';
import { initNames, makeNamespace, type UserPod } from './installed/working.ts';

/*
 * What the API server keeps of an earlier installation must not matter to the next one. It ends the informer of a
 * policy's paramKind for ever when no binding names it for a second (kubernetes#130887): a policy with parameters then
 * refuses every pod, or goes by parameters that were in force long ago.
 */

const cluster = await startCluster({ own: true });
const running: RunningPod[] = [];
const end = (): Promise<unknown> => Promise.all(running.splice(0).map((replica) => replica.end('SIGKILL')));
after(end);

/** The image of the init container that a pod gets; undefined if it gets none. */
async function injected(): Promise<string | undefined> {
  const stored = await tryPod<UserPod>(cluster, 'shop', pod('web'));
  assert.ok(initNames(stored).length <= 1);
  return stored.spec.initContainers?.[0]?.image;
}

const at = (image: string, registry: string): string => image.replace('ghcr.io/cni-gate', registry);

/** Runs the commands of kubectl in a section of a guide, as a shell does in the checkout. */
async function follow(guide: string, section: RegExp, registry = 'ghcr.io/cni-gate'): Promise<void> {
  for (const line of commandsOf(guide, section)) await shell(cluster, line, { env: { REGISTRY: registry } });
}

/** Installs with the images of a registry, and runs the replicas. */
async function installFrom(registry: string): Promise<void> {
  // the command by which the guides install
  await follow('break-glass', /^## Restore/m, registry);
  // addresses of pods that are gone are given again
  await end();
  running.push(...(await startReplicas(cluster, at(serverImage, registry))));
}

/** Waits until the API server has seen that no binding of ours is there. */
const free = (): Promise<void> => eventually(async () => assert.equal(await injected(), undefined));

const proved = (registry: string): Promise<void> =>
  eventually(async () => assert.equal(await injected(), at(validatorImage, registry)));

test('installed for the first time: a pod gets its proof', async () => {
  running.push(...(await install(cluster, 'strict')).replicas);
  await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
  await proved('ghcr.io/cni-gate');
});

test('uninstalled as the guide says, and installed from another registry: a pod gets its proof', async () => {
  await follow('install', /^## Uninstall/m);
  await end();
  await cluster.kubectl(['label', 'namespace', 'shop', `${profileLabel}=cilium`]);
  await free();
  await installFrom('mirror.example');
  await proved('mirror.example');
});

test('after break glass, restored from a third registry: a pod gets its proof', async () => {
  await follow('break-glass', /^## The whole cluster/m);
  await free();
  await installFrom('third.example:5000/tools');
  await proved('third.example:5000/tools');
});

test('a policy with parameters refuses every pod once it was bound a second time; this release ends that', async () => {
  const params = { name: 'cni-gate-policy', namespace: 'cni-gate' };
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: params, data: { image: 'x' } };
  const api = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: policyName } };
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const paramRef = { ...params, parameterNotFoundAction: 'Deny' };
  const policy = {
    ...api,
    kind: 'ValidatingAdmissionPolicy',
    spec: { ...(await specOfPolicy()), paramKind },
  };
  const binding = {
    ...{ ...api, kind: 'ValidatingAdmissionPolicyBinding' },
    spec: { policyName, validationActions: ['Deny'], paramRef },
  };
  const applyEarlier = (): Promise<string> => cluster.apply(configMap, policy, binding);
  const refused = (): Promise<void> =>
    eventually(() => assert.rejects(injected(), /no params found for policy binding/));
  await applyEarlier();
  await cluster.kubectl(['-n', 'cni-gate', 'delete', 'configmap', params.name]);
  await refused();
  const { stdout } = cniGate(['check', '--kubeconfig', cluster.admin.kubeconfig]);
  const [, way = ''] = /"kubectl (delete validatingadmissionpolicybinding \S+)"/.exec(stdout) ?? [];
  assert.match(stdout, /kubernetes#130887/);
  await cluster.kubectl(way.split(' '));
  await proved('third.example:5000/tools');
  await applyEarlier();
  await refused();
  await follow('break-glass', /^## Restore/m, 'third.example:5000/tools');
  await proved('third.example:5000/tools');
  assert.equal((await specOfPolicy()).paramKind, undefined);
});

const specOfPolicy = async (): Promise<{ paramKind?: object }> => {
  const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${policyName}`;
  return (await cluster.api.get<{ spec: { paramKind?: object } }>(path)).spec;
};
