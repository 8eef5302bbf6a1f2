import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import { cniGate, type Ended } from '../support/command.ts';
import { type Rebooted, rebootedPod } from '../support/rebooted-pod.ts';
import { bystander, onNode, optedIn, type Pod, podOn } from './gate/scene.ts';
import { named, setStatusScene } from './gate/status-scene.ts';
import { podsOf } from './gate/steps.ts';
import { namespace } from './harness/objects.ts';
import { ours as held } from './repair/kubelet.ts';

/* What `cni-gate status` tells of a real control plane. */

const { cluster, apply, command, status, setReady, measured } = await setStatusScene();
const { api } = cluster;

const running = (name: string): Promise<Pod> =>
  api.until<Pod>(named(name), (pod) => pod.status.phase === 'Running');

test('all is well: exit code 0, by the configuration in the ConfigMap', async () => {
  await apply(podOn('proved', { spec: onNode('n1') }));
  await running('proved');
  const { exit, well, configuration: from, features, daemonSets, namespaces, ...lists } = status();
  assert.deepEqual(
    features.map(({ feature, mode, inForce }) => [feature, mode, inForce]),
    [
      ['prove', 'enforce', true],
      ['gate', 'enforce', true],
      // by the configuration of this file
      ['steer', 'off', false],
      ['repair', 'audit', false],
    ],
  );
  assert.deepEqual([exit, well, from], [0, true, 'config.yaml of ConfigMap cni-gate/cni-gate']);
  const pods = { passed: 1, failed: 0, waiting: 0, optedOut: 0, withoutProof: 0, skipped: 0 };
  assert.deepEqual(namespaces, [{ name: optedIn, profile: 'mesh', pods }]);
  assert.deepEqual(lists.pods, pods);
  assert.deepEqual(
    daemonSets.map(({ namespace: of, name, nodes: { ready, exempt } }) => [`${of}/${name}`, ready, exempt]),
    [['net/agent', 1, 1]],
  );
  assert.deepEqual([lists.nodes, lists.heldPods, lists.podsWithoutProof, lists.faults], [[], [], [], []]);
  const text = command('--all');
  assert.match(
    text.stdout,
    /^All is well, as far as .*^n1 +net\/agent +ready .*^outside +net\/agent +exempt /ms,
  );
});

test('a node that is not ready is listed, with the pod held for it and a pod sent elsewhere', async () => {
  await setReady(false);
  await measured(/^cni_gate_nodes\{profile="mesh",daemonset="net\/agent",state="starting"\} 1$/m);
  await apply(podOn('waits', { spec: onNode('n1') }));
  const waits = await api.until<Pod>(named('waits'), (pod) =>
    pod.status.conditions?.some(({ message }) => message?.includes('denied')),
  );
  await measured(/^cni_gate_held_pods 1$/m);
  // no scheduler takes this one, so that what is written on it stays
  await api.post(podsOf(optedIn), podOn('sent', { spec: { schedulerName: 'nobody' } }));
  await api.patch(`${podsOf(optedIn)}/sent/status`, {
    status: { conditions: waits.status.conditions, nominatedNodeName: 'outside' },
  });
  const { exit, nodes, heldPods } = status();
  assert.equal(exit, 1);
  const [node] = nodes;
  assert.match(node?.since ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(
    nodes.map(({ since: _, pod, ...rest }) => ({ ...rest, pod: pod?.slice(0, 6) })),
    [
      {
        node: 'n1',
        daemonSet: 'net/agent',
        state: 'starting',
        pod: 'agent-',
        why: 'its pod is not Ready: install-cni',
        inUse: true,
      },
    ],
  );
  assert.deepEqual(
    heldPods.map(({ name, refused, nominated, notNominated }) => [name, refused, nominated, notNominated]),
    [
      ['sent', 'n1', 'outside', null],
      // by the configuration of the ConfigMap
      ['waits', 'n1', null, 'steering is not in force: pods that are refused wait'],
    ],
  );
  const { stdout: shown } = command('-o', 'wide');
  assert.match(shown, /^HELD POD +REFUSED NODE +AGE +NOMINATED +WHY +NOT NOMINATED$/m);
  assert.match(
    shown,
    /^shop\/waits +n1 +\d+s +- .*DaemonSet net\/agent is starting there .* steering is not in force: pods that are refused wait$/m,
  );
  for (const { why } of heldPods)
    assert.match(why, /DaemonSet net\/agent is starting there .*: install-cni$/);
  await cluster.kubectl(['delete', 'pod', '-n', optedIn, 'waits', 'sent', '--now']);
  await setReady(true);
  assert.equal(status().exit, 0);
});

test('what the leader last said of a held pod is reported, from its events', async () => {
  await measured(/^cni_gate_steer_state\{state="steering"\} 1$/m);
  await setReady(false);
  await apply(podOn('waits', { spec: onNode('n1') }));
  const { status: refused } = await api.until<Pod>(named('waits'), (pod) =>
    pod.status.conditions?.some(({ message }) => message?.includes('denied')),
  );
  await api.post(podsOf(optedIn), podOn('ignored', { spec: { schedulerName: 'nobody' } }));
  await api.patch(`${podsOf(optedIn)}/ignored/status`, { status: { conditions: refused.conditions } });
  // the test is the scheduler, and clears what is named
  await api.until<Pod & { status: { nominatedNodeName?: string } }>(
    named('ignored'),
    (pod) => pod.status.nominatedNodeName === 'outside',
  );
  await api.patch(`${podsOf(optedIn)}/ignored/status`, { status: { nominatedNodeName: null } });
  await measured(/^cni_gate_nomination_outcomes_total\{outcome="ignored"\} 1$/m);
  const { heldPods } = status('--config', join(cluster.folder, 'cni-gate.yaml'));
  const [ignored] = heldPods.filter(({ name }) => name === 'ignored');
  assert.match(ignored?.notNominated ?? '', /\boutside\b/);
  await cluster.kubectl(['delete', 'pod', '-n', optedIn, 'waits', 'ignored', '--now']);
  await setReady(true);
  assert.equal(status().exit, 0);
});

test('after a reboot, pods of which nothing runs are failed or waiting, whatever their phase and their earlier pass', async () => {
  const steps: Rebooted[] = ['failed', 'back-off', 'not run again', 'started'];
  const boot = Date.now() - 30_000;
  const names = steps.map((step) => step.replaceAll(' ', '-'));
  // kwok leaves them alone: the test is their kubelet. No pod gets to a node on which two have failed
  for (const name of names)
    await api.post(podsOf(optedIn), {
      ...podOn(name, { spec: { nodeName: 'n1' } }),
      metadata: { name, ...held },
    });
  for (const [index, step] of steps.entries())
    await api.patch(`${podsOf(optedIn)}/${names[index]}/status`, { status: rebootedPod(boot, step) });
  const { exit, headline, pods, failedPods, podsWithoutProof } = status();
  assert.deepEqual([exit, podsWithoutProof], [1, []]);
  assert.deepEqual(pods, { passed: 2, failed: 2, waiting: 1, optedOut: 0, withoutProof: 0, skipped: 0 });
  assert.deepEqual(
    failedPods.map(({ name, node, verdict }) => [name, node, verdict]),
    [
      ['back-off', 'n1', 'failed'],
      ['failed', 'n1', 'failed'],
    ],
  );
  assert.equal(headline, 'Not all is well: failed proofs: 2, pods that wait: 1.');
  await measured(/^cni_gate_proofs\{verdict="passed"\} 2$/m);
  await measured(/^cni_gate_proofs\{verdict="failed"\} 2$/m);
  await measured(/^cni_gate_proofs\{verdict="waiting"\} 1$/m);
  await cluster.kubectl(['delete', 'pod', '-n', optedIn, ...names, '--now']);
  assert.equal(status().exit, 0);
});

test('a pod older than the opt-in of its namespace is listed without a proof; -n for another namespace does not list it', async () => {
  await apply(namespace('late'), podOn('early', { namespace: 'late' }));
  await api.until<Pod>(podsOf('late'), (pod) => pod.status.phase === 'Running');
  assert.equal(status().exit, 0);
  await cluster.kubectl(['label', 'namespace', 'late', `${profileLabel}=mesh`]);
  const { exit, podsWithoutProof } = status();
  assert.equal(exit, 1);
  assert.deepEqual(
    podsWithoutProof.map(({ why: _, ...pod }) => ({ ...pod, node: typeof pod.node })),
    [{ namespace: 'late', name: 'early', node: 'string', reason: 'not-reviewed' }],
  );
  assert.equal(status('-n', optedIn).exit, 0);
  await cluster.kubectl(['delete', 'namespace', 'late']);
});

test('a profile in use whose DaemonSet does not exist is a fault, with or without a ConfigMap', async () => {
  await apply(namespace('meshed', { [profileLabel]: 'linkerd' }));
  // the webhooks say where cni-gate is
  const installed = status('--own-namespace', 'nowhere');
  assert.equal(installed.configuration, 'config.yaml of ConfigMap cni-gate/cni-gate');
  const path = '/api/v1/namespaces/cni-gate/configmaps';
  const { data } = await cluster.api.get<{ data: object }>(`${path}/cni-gate`);
  await cluster.api.delete(`${path}/cni-gate`);
  const builtIn = status('-n', 'meshed');
  await cluster.api.post(path, { metadata: { name: 'cni-gate' }, data });
  assert.match(
    builtIn.configuration,
    /^the built-in profiles \(there is no config\.yaml of ConfigMap cni-gate\//,
  );
  for (const { exit, faults } of [installed, builtIn]) {
    assert.deepEqual([exit, faults.map(({ code }) => code)], [1, ['CNI_GATE_DAEMONSET_UNKNOWN']]);
    assert.match(faults[0]?.message ?? '', /^DaemonSet linkerd-cni\/linkerd-cni of profile linkerd does not/);
  }
  await cluster.kubectl(['delete', 'namespace', 'meshed']);
});

test('-n with a namespace that has not opted in says so, and how to opt in', async () => {
  const { exit, faults, namespaces } = status('-n', bystander);
  assert.deepEqual([exit, faults.map(({ code }) => code), namespaces], [1, ['CNI_GATE_NOT_OPTED_IN'], []]);
  const { stdout } = command('-n', bystander);
  assert.match(stdout, /^Namespace plain has not opted in\.$/m);
  const [, advice = ''] =
    / (label --overwrite namespace plain \S+=)PROFILE/.exec(faults[0]?.message ?? '') ?? [];
  await cluster.kubectl(`${advice}mesh`.split(' '));
  assert.equal(status('-n', bystander).exit, 0);
  await cluster.kubectl(['label', 'namespace', bystander, `${profileLabel}=none`, '--overwrite']);
  assert.equal(status('-n', bystander).exit, 1);
  assert.equal(status().exit, 0);
  await cluster.kubectl(['label', 'namespace', bystander, `${profileLabel}-`]);
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
  assert.match(
    using('status', '--context', 'there').stderr,
    /it has no context there; it has the contexts away, here \(CNI_GATE_CLUSTER_CONFIG\)$/m,
  );
});
