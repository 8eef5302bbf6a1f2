import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '../../webhook/lib/errors.ts';
import { profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { policyName, tryPod } from './installed/overlay.ts';
import { initNames, makeNamespace, testThatItWorks, type UserPod } from './installed/working.ts';

const { cluster, replicas } = await installed('permissive');

testThatItWorks(cluster);

test('what strict would refuse gets a warning of cni-gate, and none of the policy that says otherwise', async () => {
  await makeNamespace(cluster, 'lost', { [profileLabel]: 'nowhere' });
  const lookalike = pod('web', { containers: [{ name: validatorContainer, image: 'example/web' }] });
  for (const [where, object, code] of [
    ['lost', pod('web'), 'CNI_GATE_PROFILE_UNKNOWN'],
    ['shop', lookalike, 'CNI_GATE_NAME_TAKEN'],
  ] as const) {
    const text = await warningsFor(where, object);
    assert.match(text, new RegExp(`Warning: ${code}: `));
    assert.doesNotMatch(text, /ValidatingAdmissionPolicy/);
    const tried = await tryPod<UserPod>(cluster, where, object);
    assert.deepEqual(initNames(tried), []);
    assert.equal(JSON.parse(tried.metadata.annotations?.[statusAnnotation] ?? '').reason, code);
  }
});

test("a pod of a network of the user's own, which is left alone, gets no warning", async () => {
  const config = {
    apiVersion: 'cni-gate.io/v1alpha1',
    kind: 'Configuration',
    proof: { mode: 'warn' },
    gate: { mode: 'audit' },
    profiles: [{ name: 'fabric', daemonSets: [{ namespace: 'shop', name: 'fabric' }] }],
  };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'cni-gate', name: 'cni-gate' },
    data: { 'config.yaml': JSON.stringify(config) },
  });
  await Promise.all(replicas.map((replica) => replica.refresh()));
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'fabric', uid: 'u1', controller: true };
  const agent = pod('agent', {}, { ownerReferences: [owner] });
  await eventually(async () => {
    const tried = await tryPod<UserPod>(cluster, 'shop', agent);
    assert.deepEqual(initNames(tried), []);
  });
  const shown = await cluster.kubectl(
    ['-n', 'shop', 'create', '--dry-run=server', '--warnings-as-errors', '-o', 'json', '-f', '-'],
    { input: JSON.stringify(agent) },
  );
  assert.match(JSON.parse(shown).metadata.annotations[statusAnnotation], /"reason":"network-daemonset"/);
});

test('with cni-gate away a pod is admitted, with a warning', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  const reported = new RegExp(
    `${policyName}.*has no annotation cni-gate\\.io/status.* See https://github\\.com/`,
    's',
  );
  await eventually(async () => assert.match(await warningsFor('shop', pod('late')), reported));
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('late'))), []);
});

/** What kubectl says when it makes a pod. It is told to take a warning for an error: nothing else says it. */
async function warningsFor(where: string, object: object): Promise<string> {
  try {
    const args = ['-n', where, 'create', '--dry-run=server', '--warnings-as-errors', '-f', '-'];
    await cluster.kubectl(args, { input: JSON.stringify(object) });
    return '';
  } catch (error) {
    return messageOf(error);
  }
}
