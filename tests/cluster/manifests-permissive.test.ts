import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { profileLabel } from '../../webhook/names.ts';
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

test('with cni-gate away a pod is admitted, with a warning', async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
  await eventually(() =>
    assert.rejects(
      create('shop', 'late'),
      new RegExp(`${policyName}.*has no annotation cni-gate\\.io/status`, 's'),
    ),
  );
  assert.deepEqual(initNames(await tryPod<UserPod>(cluster, 'shop', pod('late'))), []);
});

/** Tries to make a pod with kubectl, which is told to take a warning for an error: nothing else says it. */
function create(where: string, name: string): Promise<string> {
  return cluster.kubectl(['-n', where, 'create', '--dry-run=server', '--warnings-as-errors', '-f', '-'], {
    input: JSON.stringify(pod(name)),
  });
}
