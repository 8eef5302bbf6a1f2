import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import type { Status } from '../../webhook/report/show/status.ts';
import { cniGate, type Ended } from '../support/command.ts';
import type { Access } from './harness/access.ts';
import { eventually } from './harness/eventually.ts';
import { installed } from './installed/installation.ts';
import { overlayPath } from './installed/overlay.ts';
import { bringNetwork, calls, makeNamespace } from './installed/working.ts';

/* The overlay strict as it is installed: what `status` says while all is in order, by whose rights, and at the end. */

const { cluster } = await installed('strict');
const kubectl = (text: string): Promise<string> => cluster.kubectl(text.split(' '));
const command = (args: string[], { kubeconfig }: Pick<Access, 'kubeconfig'> = cluster.admin): Ended =>
  cniGate(['status', '--kubeconfig', kubeconfig, ...args]);

/** The status as programs get it, with the exit code. */
function status(args: string[] = [], access?: Access): Status & { exit: number | null } {
  const { status: exit, stdout, stderr } = command(['--output', 'json', ...args], access);
  assert.equal(stderr, '');
  return { ...JSON.parse(stdout), exit };
}

await bringNetwork(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
const { api } = cluster;

suite('with all in order', () => {
  test('status exits with 0, and has every part that admission depends on', async () => {
    await eventually(async () => {
      const { status: exit, stdout } = command([]);
      assert.equal(exit, 0, stdout);
      assert.match(stdout, /^All is well\.\n/);
    });
    const { installation, features, notKnown, probe } = status();
    assert.deepEqual(
      installation.map(({ id, result, what }) => [id, result, what.replace(/^held by .*/, 'held')]),
      [
        ['configuration', 'passed', 'config.yaml of ConfigMap cni-gate/cni-gate'],
        ['webhook-pods', 'passed', 'registered as in the manifests'],
        ['webhook-bindings', 'passed', 'registered as in the manifests'],
        ['deployment', 'passed', '2 of 2 replicas are ready'],
        ['service', 'passed', '2 of 2 endpoints are ready'],
        ['certificate', 'passed', 'every caBundle trusts the certificate in Secret cni-gate/cni-gate-tls'],
        ['policy-pods', 'passed', 'bound: Deny'],
        ['opt-out', 'passed', 'as proof.allowOptOut: true'],
        ['policy-service-account', 'passed', 'bound: Deny'],
        ['leader', 'passed', 'held'],
        ['proof-mode', 'passed', 'no pod is in warn mode'],
      ],
    );
    assert.ok(features.every(({ inForce }) => inForce));
    assert.deepEqual([notKnown, probe], [[], null]);
  });

  test('--probe goes through all of admission, and changes nothing', async () => {
    const pods = (): Promise<string> => cluster.kubectl(['get', 'pods', '-A', '-o', 'name']);
    const [called, before] = [await calls(cluster), await pods()];
    const { exit, probe } = status(['--probe']);
    assert.deepEqual(
      [exit, probe],
      [
        0,
        {
          namespace: 'shop',
          outcome: 'injected',
          what: 'the pod comes back with cni-gate-validator (address, gateway, roundTrip)',
        },
      ],
    );
    assert.ok((await calls(cluster)) > called, 'the webhook was not called');
    assert.equal(await pods(), before);
    assert.match(
      command(['--probe']).stdout.replaceAll(/\n {2}(?=\S)/g, ' '),
      /^All is well\.\nProbe in namespace shop: the pod comes back with cni-gate-validator/,
    );
  });

  test('--probe works with Pod Security restricted, quotas, and profiles with conditions', async () => {
    const labels = {
      'restricted-ns': { [profileLabel]: 'linkerd', 'pod-security.kubernetes.io/enforce': 'restricted' },
      'quota-ns': { [profileLabel]: 'multus' },
    };
    const hard = {
      'requests.cpu': '1',
      'requests.memory': '1Gi',
      'limits.cpu': '1',
      'limits.memory': '1Gi',
      pods: '5',
    };
    for (const [name, more] of Object.entries(labels)) await makeNamespace(cluster, name, more);
    await makeQuota('quota-ns', hard);
    for (const [name, checks] of [
      ['restricted-ns', 'redirect'],
      ['quota-ns', 'interfaces'],
    ] as const) {
      const { probe } = status(['--probe', '-n', name]);
      assert.deepEqual(
        [probe?.outcome, probe?.what],
        ['injected', `the pod comes back with cni-gate-validator (${checks})`],
      );
    }
    await kubectl('delete namespace restricted-ns quota-ns');
  });

  test('with a used-up quota the next namespace is tried; with no other namespace the result is unknown', async () => {
    await makeNamespace(cluster, 'full', { [profileLabel]: 'cilium' });
    await makeQuota('full', { pods: '0' });
    const next = status(['--probe']);
    assert.deepEqual([next.exit, next.probe?.namespace, next.probe?.outcome], [0, 'shop', 'injected']);
    const { status: exit, stdout } = command(['--probe', '-n', 'full']);
    assert.equal(exit, 2, stdout);
    assert.match(
      stdout,
      /^It is not known whether all is well\. Not known: no pod could be tried: .*exceeded quota/,
    );
    await kubectl('delete namespace full');
  });
});

async function makeQuota(namespace: string, hard: Record<string, string>): Promise<void> {
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'all' }, spec: { hard } };
  await cluster.kubectl(['-n', namespace, 'apply', '-f', '-'], { input: [quota] });
  await api.until<{ status?: { hard?: object } }>(
    `/api/v1/namespaces/${namespace}/resourcequotas`,
    ({ status: counted }) => counted?.hard,
  );
}

suite('by the rights of the caller', () => {
  test('with ClusterRole cni-gate-status everything but the certificate is known; the probe needs the right to create pods', async () => {
    const reader = await cluster.user('reader');
    await kubectl('create clusterrolebinding reader --clusterrole=cni-gate-status --user=reader');
    const expected =
      /^All is well, as far as it is known\. Not known: Certificate: Secret cni-gate\/cni-gate-tls may not be read: RBAC lacks .*\.$/;
    await eventually(async () => {
      const seen = status([], reader);
      assert.equal(seen.exit, 0);
      assert.match(seen.headline, expected);
    });
    const lacking = status(['--probe'], reader);
    assert.deepEqual([lacking.exit, lacking.probe?.outcome], [2, 'not-made']);
    assert.match(lacking.headline, /no pod could be tried: .*RBAC lacks verb "create" on resource "pods"/);
    await kubectl('-n shop create role probe --verb=create --resource=pods');
    await kubectl('-n shop create rolebinding probe --role=probe --user=reader');
    await eventually(async () => {
      const seen = status(['--probe'], reader);
      assert.deepEqual([seen.exit, seen.probe?.outcome], [0, 'injected']);
      assert.match(seen.headline, expected);
    });
  });

  test('a caller that may read only pods and webhooks does not get "All is well"', async () => {
    const somebody = await cluster.user('somebody');
    await kubectl(
      'create clusterrole somebody --verb=get,list --resource=nodes,pods,namespaces,configmaps,daemonsets.apps,' +
        'mutatingwebhookconfigurations.admissionregistration.k8s.io,validatingwebhookconfigurations.admissionregistration.k8s.io',
    );
    await kubectl('create clusterrolebinding somebody --clusterrole=somebody --user=somebody');
    await eventually(async () => {
      const seen = command([], somebody);
      assert.equal(seen.status, 2, seen.stderr);
      assert.match(
        seen.stdout,
        /^It is not known whether all is well\. Not known: Service .* may not be read/,
      );
      assert.doesNotMatch(seen.stdout, /All is well/);
    });
  });
});

test('after the uninstall of the guide, the result is not-installed', async () => {
  const admitting =
    'mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicybindings';
  await kubectl(`delete ${admitting} -l cni-gate.io/admits=pods`);
  await kubectl(`delete --ignore-not-found -k ${overlayPath('strict')}`);
  const labelled = status();
  assert.deepEqual([labelled.exit, labelled.result], [3, 'not-installed']);
  assert.match(labelled.headline, /opted in: shop\./);
  const { nodes, daemonSets, podsWithoutProof, heldPods, installation } = labelled;
  assert.deepEqual([nodes, daemonSets, podsWithoutProof, heldPods, installation], [[], [], [], [], []]);
  await kubectl('label namespaces --all cni-gate.io/profile-');
  const { status: exit, stdout } = command([]);
  assert.equal(exit, 3, stdout);
  assert.match(stdout, /^cni-gate is not installed: /);
  assert.match(stdout.split('\n')[1] ?? '', /^Cluster: https:\/\/127\.0\.0\.1:\d+ \(context \S+\)/);
  assert.equal(stdout.replaceAll(/\n {2}(?=\S)/g, ' ').split('\n').length, 3, stdout);
  assert.deepEqual(
    status().faults.map(({ code }) => code),
    ['CNI_GATE_NOT_INSTALLED'],
  );
});
