import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { profileLabel } from '../../webhook/names.ts';
import type { Status } from '../../webhook/status/model.ts';
import { cniGate } from '../support/command.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { install } from './installed/installation.ts';
import { pod, policyName, tryPod } from './installed/overlay.ts';
import { initNames, makeNamespace, testThatItWorks, type UserPod } from './installed/working.ts';

const cluster = await Cluster.start();
after(() => cluster.stop());
const { replicas } = await install(cluster, 'permissive');
after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));

testThatItWorks(cluster);

test('what strict would refuse gets a warning', async () => {
  await makeNamespace(cluster, 'lost', { [profileLabel]: 'nowhere' });
  await assert.rejects(create('lost', 'web'), /CNI_GATE_PROFILE_UNKNOWN/);
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'lost', pod('web'))), []);
});

test('status has nothing against policies that only warn', () => {
  const { stdout } = cniGate([
    'status',
    '--kubeconfig',
    cluster.admin.kubeconfig,
    '-o',
    'json',
    '-n',
    'shop',
  ]);
  const { installation }: Status = JSON.parse(stdout);
  assert.deepEqual(
    installation.filter(({ inOrder }) => inOrder !== true),
    [],
  );
  assert.equal(installation.find(({ part }) => part === 'policy')?.what, 'bound: Warn, Audit');
});

test('with cni-gate away a pod is admitted, with a warning', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await eventually(() =>
    assert.rejects(create('shop', 'late'), new RegExp(`${policyName}.*has not seen this pod`, 's')),
  );
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('late'))), []);
});

test('the probe of status tells that such a pod has no proof', () => {
  const args = ['--kubeconfig', cluster.admin.kubeconfig, '-o', 'json', '-n', 'shop', '--probe'];
  const { probe, faults }: Status = JSON.parse(cniGate(['status', ...args]).stdout);
  assert.equal(probe?.outcome, 'failed');
  assert.match(probe.what, /comes back without cni-gate\.io\/status/);
  assert.ok(faults.some(({ code }) => code === 'CNI_GATE_PROBE'));
});

/** Tries to make a pod with kubectl, which is told to take a warning for an error: nothing else says it. */
function create(where: string, name: string): Promise<string> {
  return cluster.kubectl(['-n', where, 'create', '--dry-run=server', '--warnings-as-errors', '-f', '-'], {
    input: JSON.stringify(pod(name)),
  });
}
