import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileLabel, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { cniGate } from '../support/command.ts';
import { eventually } from './harness/eventually.ts';
import { pod, workload } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { apply, policyName, tryPod } from './installed/overlay.ts';
import {
  bringNetwork,
  initNames,
  makeNamespace,
  testThatItWorks,
  type UserPod,
  warningsOf,
} from './installed/working.ts';

const { cluster, replicas } = await installed('permissive');

testThatItWorks(cluster);

test('a pod that strict would refuse gets a warning from cni-gate, and no contradicting one from the policy', async () => {
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

test('after the change to strict, pods from before are in warn mode until they are recreated, and status says so', async () => {
  await cluster.kubectl(['delete', 'namespace', 'lost']);
  await bringNetwork(cluster);
  await cluster.apply(workload('Deployment', 'old', { namespace: 'shop' }));
  await cluster.api.until<UserPod & { status: { phase?: string } }>(
    '/api/v1/namespaces/shop/pods?labelSelector=app%3Dold',
    ({ status }) => status.phase === 'Running',
  );
  await apply(cluster, 'strict');
  await Promise.all(replicas.map((replica) => replica.refresh()));
  const status = (): string => cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig]).stdout;
  const recreate = 'kubectl -n shop rollout restart deployment,statefulset,daemonset';
  await eventually(async () => {
    const shown = status().replaceAll(/\s+/g, ' ');
    assert.match(shown, /pods-without-proof 2 warning/);
    assert.ok(shown.includes(recreate), shown);
  });
  // the replicas may read the new mode later than `status` does, and would still inject in warn mode
  await eventually(async () => {
    const { metadata } = await tryPod<UserPod>(cluster, 'shop', pod('web'));
    assert.doesNotMatch(metadata.annotations?.[statusAnnotation] ?? assert.fail('no status'), /"warn"/);
  });
  await cluster.kubectl(recreate.split(' ').slice(1));
  await eventually(async () => assert.match(status(), /^All \d+ checks passed\.\n/));
  await cluster.kubectl(['-n', 'shop', 'delete', 'deployment', 'old']);
  await apply(cluster, 'permissive');
  await Promise.all(replicas.map((replica) => replica.refresh()));
});

test("a pod of the user's own network, which is exempt, gets no warning", async () => {
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

test('while cni-gate is down, a pod is admitted with a warning', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  const reported = new RegExp(
    `${policyName}.*has no annotation cni-gate\\.io/status.* See https://github\\.com/`,
    's',
  );
  await eventually(async () => assert.match(await warningsFor('shop', pod('late')), reported));
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('late'))), []);
});

/** The warnings when the object is created as a dry run. */
const warningsFor = (where: string, object: object): Promise<string> =>
  warningsOf(cluster, ['-n', where, 'create', '--dry-run=server', '-f', '-'], object);
