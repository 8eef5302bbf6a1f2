import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Status } from '../../webhook/report/status/status.ts';
import { cniGate, type Ended } from '../support/command.ts';
import { isN1Down, manifest, setStatusScene } from './gate/status-scene.ts';
import { eventually } from './harness/eventually.ts';

/* `cni-gate status` with the rights of others, and with a context of the kubeconfig. */

const { cluster, apply, command, setReady, watching } = await setStatusScene();

const [serviceAccount, rights, rightsOfPeople] = [
  manifest('service-account'),
  manifest('rights'),
  manifest('rights-status'),
];

test('with the service account of cni-gate the verdict is unknown, and the rest is known', async () => {
  await cluster.kubectl(['apply', '-f', serviceAccount, '-f', rights]);
  const { kubeconfig } = await cluster.serviceAccount('cni-gate', 'cni-gate');
  const args = ['status', '--kubeconfig', kubeconfig, '-o', 'json'];
  const withoutFile = cniGate(args);
  assert.equal(withoutFile.status, 2);
  assert.match(
    withoutFile.stderr,
    /configmaps.*; or give the configuration as a file, with --config\. ClusterRole cni-gate-status .* --serviceaccount=cni-gate:cni-gate \(CNI_/,
  );
  const ended = cniGate([...args, '--config', join(cluster.folder, 'cni-gate.yaml')]);
  // who serves needs no right to see its own Service
  assert.equal(ended.status, 2, ended.stdout + ended.stderr);
  const { features, faults, notKnown }: Status = JSON.parse(ended.stdout);
  assert.deepEqual(
    features.map(({ inForce }) => inForce),
    // repair.mode is audit by default
    [true, true, true, false],
  );
  assert.deepEqual(faults, []);
  assert.match(notKnown[0] ?? '', /^Service cni-gate\/cni-gate: it may not be read: RBAC lacks .*/);
});

test('with the role for people, bound as the error says, everything is known, also with --watch', async (t) => {
  const { kubeconfig } = await cluster.user('reader');
  await cluster.kubectl(['apply', '-f', rightsOfPeople]);
  const { stderr } = cniGate(['status', '--kubeconfig', kubeconfig]);
  const [, advice = ''] = /runs: kubectl (create .*) \(CNI_GATE_CLUSTER_FORBIDDEN\)$/m.exec(stderr) ?? [];
  await cluster.kubectl(advice.split(' '));
  const known = ({ features }: Status): boolean => features.every(({ inForce }) => inForce !== null);
  await eventually(async () => {
    const { status: exit, stdout, stderr } = cniGate(['status', '--kubeconfig', kubeconfig, '-o', 'json']);
    assert.equal(exit, 0, stdout + stderr);
    assert.ok(known(JSON.parse(stdout)));
  });
  const { until, end } = watching(t, '--kubeconfig', kubeconfig);
  await until(({ well }) => well);
  await setReady(false);
  await until((seen) => isN1Down(seen) && known(seen));
  await setReady(true);
  await until(({ well }) => well);
  assert.equal(await end(), 0);
});

test('an unknown namespace and a missing right exit with 2 and a code', async () => {
  const absent = command('-n', 'nosuch');
  assert.deepEqual([absent.status, absent.stdout], [2, '']);
  assert.match(absent.stderr, /the cluster has no namespace nosuch \(CNI_GATE_CLUSTER_NOT_FOUND\)$/m);

  const { kubeconfig } = await cluster.user('somebody');
  const allow = async (resources: [group: string, resource: string, verbs: string][]): Promise<void> => {
    const rules = resources.map(([group, resource, verbs]) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: verbs.split(','),
    }));
    const meta = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'somebody' } };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'somebody' };
    await apply(
      { ...meta, kind: 'ClusterRole', rules },
      { ...meta, kind: 'ClusterRoleBinding', roleRef, subjects: [{ kind: 'User', name: 'somebody' }] },
    );
  };
  const asSomebody = (): Ended => cniGate(['status', '--kubeconfig', kubeconfig]);
  const lacking = asSomebody();
  assert.equal(lacking.status, 2);
  assert.match(
    lacking.stderr,
    /cannot get configmaps cni-gate in namespace cni-gate: .*RBAC lacks verb "get" on resource "configmaps" of API group ""; or .* --config\. ClusterRole cni-gate-status .* --user=somebody \(CNI_GATE_CLUSTER_FORBIDDEN\)$/m,
  );
  // those of docs/reference/command-line.md
  const needed: Parameters<typeof allow>[0] = [
    ['', 'configmaps', 'get'],
    ['', 'namespaces', 'list'],
    ['', 'nodes', 'list'],
    ['apps', 'daemonsets', 'list'],
  ];
  await allow(needed);
  await eventually(async () => {
    const { stderr } = asSomebody();
    assert.match(
      stderr,
      /RBAC lacks verb "list" on resource "pods" of API group ""\. ClusterRole .* \(CNI_GATE_CLUSTER_FORBIDDEN\)/,
    );
  });
  await allow([...needed, ['', 'pods', 'list']]);
  await eventually(async () => {
    const { status: exit, stdout } = asSomebody();
    assert.equal(exit, 2);
    assert.match(
      stdout,
      /^It is not known whether all is well\. .*^gate +enforce +not known +validatingwebhookconfiguration\/cni-gate may not be read: RBAC lacks verb "list"/ms,
    );
  });
  const kind = 'mutatingwebhookconfigurations';
  await allow([...needed, ['', 'pods', 'list'], ['admissionregistration.k8s.io', kind, 'list']]);
  await eventually(async () =>
    assert.match(asSomebody().stdout, /^prove +enforce +yes .*^gate .* not known /ms),
  );
});

test('--context chooses a context of the kubeconfig, for certs as well', () => {
  const { clusters = [], contexts = [], users } = JSON.parse(readFileSync(cluster.admin.kubeconfig, 'utf8'));
  const file = join(cluster.folder, 'contexts.json');
  const away = { name: 'away', cluster: { server: 'https://127.0.0.1:1' } };
  const [{ context }] = contexts;
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [...clusters, away],
      contexts: [
        { name: 'away', context: { ...context, cluster: 'away' } },
        { name: 'here', context },
      ],
      users,
      'current-context': 'away',
    }),
  );
  const using = (...args: string[]): Ended => cniGate([...args, '--kubeconfig', file]);
  assert.match(using('status').stderr, /\(CNI_GATE_CLUSTER_UNREACHABLE\)$/m);
  const { status: exit, stdout, stderr } = using('status', '--context', 'here');
  assert.deepEqual([exit, stderr], [0, ''], stdout);
  assert.match(using('certs', 'show', '--context', 'here').stdout, /cni-gate-tls/);
  assert.match(
    using('status', '--context', 'there').stderr,
    /it has no context there; it has the contexts away, here \(CNI_GATE_CLUSTER_CONFIG\)$/m,
  );
});
