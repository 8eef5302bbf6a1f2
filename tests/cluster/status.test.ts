import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defaultImage } from '../../webhook/config/load.ts';
import { installedConfiguration, profileLabel } from '../../webhook/lib/names.ts';
import type { Status } from '../../webhook/status/model.ts';
import { cniGate, type Ended, main, startCniGate } from '../support/command.ts';
import {
  bystander,
  configuration,
  daemonSet,
  networkNamespace,
  onNode,
  optedIn,
  type Pod,
  podOn,
  setTheScene,
} from './gate/scene.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { startServer } from './harness/server.ts';
import { installedRegistrations } from './installed/registration.ts';

const cluster = await Cluster.start();
after(() => cluster.stop());
const { api } = cluster;
const scene = await setTheScene(cluster);
after(() => scene.server.end());

const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const named = (name: string): string => `${podsOf(optedIn)}?fieldSelector=metadata.name%3D${name}`;
const apply = (...input: object[]): Promise<string> => cluster.kubectl(['apply', '-f', '-'], { input });
const namespace = (name: string, labels: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

const command = (...args: string[]): Ended =>
  cniGate(['status', '--kubeconfig', cluster.admin.kubeconfig, ...args]);

/** The status as programs get it, and the exit code that goes with it. */
function status(...args: string[]): Status & { exit: number | null } {
  const { status: exit, stdout, stderr } = command('--output', 'json', ...args);
  assert.equal(stderr, '');
  return { ...JSON.parse(stdout), exit };
}

/** Makes the agent's pod on n1 read Ready or not; kwok leaves a pod that runs alone. */
async function setReady(ready: boolean, containerID = 'containerd://1'): Promise<void> {
  const pod = await agent();
  const conditions = [
    { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: new Date().toISOString() },
  ];
  const container = { name: 'install-cni', image: 'example/agent', imageID: '', restartCount: 0, ready };
  await api.patch(`${podsOf(networkNamespace)}/${pod.metadata.name}/status`, {
    status: { conditions, containerStatuses: [{ ...container, containerID }] },
  });
}

const agent = (): Promise<Pod> =>
  api.until<Pod>(
    `${podsOf(networkNamespace)}?fieldSelector=spec.nodeName%3Dn1`,
    ({ status: { phase } }) => phase === 'Running',
  );

const running = (name: string): Promise<Pod> =>
  api.until<Pod>(named(name), (pod) => pod.status.phase === 'Running');

/** Waits until the server's metrics say so. */
const measured = (line: RegExp): Promise<void> =>
  eventually(async () => {
    const answer = await fetch(`http://${scene.server.host}:${scene.server.opsPort}/metrics`);
    assert.match(await answer.text(), line);
  });

/** The documents of `status --watch`, one after another, and the end of it. */
function watching(t: TestContext, ...args: string[]) {
  const child = startCniGate([
    ...['status', '--kubeconfig', cluster.admin.kubeconfig, '--watch', '--output', 'json', ...args],
  ]);
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout && child.stderr);
  const reported = createInterface({ input: child.stderr });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    until: async (isIt: (status: Status) => boolean): Promise<Status> => {
      for (;;) {
        const { value, done } = await lines.next();
        assert.ok(!done, 'it ended before');
        const seen: Status = JSON.parse(value);
        if (isIt(seen)) return seen;
      }
    },
    /** Waits until standard error says so. */
    reported: async (text: RegExp): Promise<void> => {
      for await (const line of reported) if (text.test(line)) return;
      assert.fail(`it ended without ${text}`);
    },
    end: async (): Promise<number | null> => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}

/** What of a stored object is applied again: not what tells this one from the next. */
const bare = ({
  metadata: { name, labels },
  ...object
}: {
  metadata: { name: string; labels?: object };
}) => ({
  ...object,
  metadata: { name, labels },
});

const manifest = (name: string): string =>
  fileURLToPath(new URL(`../../manifests/base/${name}.yaml`, import.meta.url));
const [serviceAccount, rights, rightsOfPeople] = [
  manifest('service-account'),
  manifest('rights'),
  manifest('rights-status'),
];

/** Pods that are refused for n1 and can be sent nowhere. */
const unsendable = ['large', 'crowded'];

/** Why pods that are held are sent nowhere, with steering on, by the name of the pod. */
async function whyUnsent({ status: { conditions } }: Pod): Promise<Record<string, string | undefined>> {
  const asking = (cpu: string): object => ({
    containers: [{ name: 'web', image: 'example/web', resources: { requests: { cpu } } }],
  });
  const specs = [asking('5'), asking('2')];
  await apply(podOn('filler', { namespace: bystander, spec: { ...asking('3'), nodeName: 'outside' } }));
  for (const [at, name] of unsendable.entries()) {
    // nobody schedules them, so that what is written on them stays
    await api.post(podsOf(optedIn), podOn(name, { spec: { schedulerName: 'nobody', ...specs[at] } }));
    await api.patch(`${podsOf(optedIn)}/${name}/status`, { status: { conditions } });
  }
  const { heldPods } = status('--config', join(cluster.folder, 'cni-gate.yaml'));
  await cluster.kubectl(['delete', 'pod', '-n', bystander, 'filler', '--now']);
  return Object.fromEntries(heldPods.flatMap(({ name, unsent }) => (unsent ? [[name, unsent.why]] : [])));
}

const stateOfN1 = ({ nodes }: Status) => nodes.find(({ node }) => node === 'n1')?.state;

const { name: configMap, key } = installedConfiguration;
await apply({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'cni-gate', name: configMap },
  data: { [key]: configuration(['agent'], 'off') },
});
await apply(...installedRegistrations(readFileSync(join(cluster.folder, 'webhook-authority.pem'))));
await cluster.kubectl(['apply', '-f', manifest('policy-pods'), '-f', manifest('policy-service-account')]);
await apply({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'cni-gate', name: 'cni-gate-policy' },
  data: { image: defaultImage },
});
await addNode(cluster, 'n1');
await addNode(cluster, 'outside');
await apply(daemonSet('agent', { nodeSelector: { 'kubernetes.io/hostname': 'n1' } }));
await setReady(true);

suite('cni-gate status on a real control plane', () => {
  test('all is well: exit code 0, by the configuration in the ConfigMap', async () => {
    await apply(podOn('proved', { spec: onNode('n1') }));
    await running('proved');
    const { exit, well, configuration: from, verbs, daemonSets, namespaces, ...lists } = status();
    assert.deepEqual(
      verbs.map(({ verb, mode, inForce }) => [verb, mode, inForce]),
      [
        ['prove', 'enforce', true],
        ['gate', 'enforce', true],
        // by the configuration of this file
        ['steer', 'off', false],
      ],
    );
    assert.deepEqual([exit, well, from], [0, true, 'config.yaml of ConfigMap cni-gate/cni-gate']);
    const pods = { passed: 1, failed: 0, waiting: 0, optedOut: 0, unproved: 0, leftAlone: 0 };
    assert.deepEqual(namespaces, [{ name: optedIn, profile: 'mesh', pods }]);
    assert.deepEqual(lists.pods, pods);
    assert.deepEqual(
      daemonSets.map(({ namespace: of, name, nodes: { ready, exempt } }) => [`${of}/${name}`, ready, exempt]),
      [['net/agent', 1, 1]],
    );
    assert.deepEqual([lists.nodes, lists.heldPods, lists.unprovedPods, lists.faults], [[], [], [], []]);
    const text = command('--all');
    assert.match(
      text.stdout,
      /^All is well, as far as .*^n1 +net\/agent +ready .*^outside +net\/agent +exempt /ms,
    );
  });

  test('a server that starts now tells the same in its log, once it has listed all', async () => {
    const files = [
      '--kubeconfig',
      cluster.admin.kubeconfig,
      '--config',
      join(cluster.folder, 'cni-gate.yaml'),
    ];
    const another = await startServer({ host: '10.254.3.2', args: files });
    await eventually(async () => {
      const known = another.lines.filter(({ msg }) => msg === 'nodes and DaemonSets are known');
      assert.deepEqual(
        known.map(({ nodes, daemonSets }) => [nodes, daemonSets]),
        [[2, { 'net/agent': { ready: 1, exempt: 1 } }]],
      );
    });
    await another.end();
  });

  test('a node that is not ready, the pod that it holds, and one that was sent elsewhere', async () => {
    await setReady(false);
    await measured(/^cni_gate_nodes\{profile="mesh",daemonset="net\/agent",state="starting"\} 1$/m);
    await apply(podOn('waits', { spec: onNode('n1') }));
    const waits = await api.until<Pod>(named('waits'), (pod) =>
      pod.status.conditions?.some(({ message }) => message?.includes('denied')),
    );
    await measured(/^cni_gate_held_pods 1$/m);
    // nobody schedules this one, so that what is written on it stays
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
        },
      ],
    );
    assert.deepEqual(
      heldPods.map(({ name, refused, nominated, unsent }) => [name, refused, nominated, unsent?.reason]),
      [
        ['sent', 'n1', 'outside', undefined],
        // by the configuration of the ConfigMap
        ['waits', 'n1', null, 'not-steering'],
      ],
    );
    assert.deepEqual(await whyUnsent(waits), {
      waits: 'no other node takes it: 1 ruled out by its node selector or affinity',
      large: 'no other node takes it: 1 too small for its requests',
      crowded: 'no other node takes it: 1 without free capacity for its requests',
    });
    const { stdout: shown } = command();
    assert.match(shown, /^HELD POD +REFUSED NODE +SINCE +SENT TO$/m);
    assert.match(
      shown,
      /^shop\/waits +n1 +\S+Z \(\d+s\) +-\n {4}why: DaemonSet net\/agent is starting there /m,
    );
    assert.match(shown, /^ {4}not sent: nobody steers: pods that are refused wait$/m);
    assert.ok(shown.split('\n').every((line) => line.length <= 100));
    for (const { why } of heldPods)
      assert.match(why, /^DaemonSet net\/agent is starting there .*: install-cni$/);
    await cluster.kubectl(['delete', 'pod', '-n', optedIn, 'waits', 'sent', ...unsendable, '--now']);
    await setReady(true);
    assert.equal(status().exit, 0);
  });

  test('a nomination that the scheduler ignored is told, from the events of the leader', async () => {
    await measured(/^cni_gate_steer_state\{state="steering"\} 1$/m);
    await setReady(false);
    await apply(podOn('waits', { spec: onNode('n1') }));
    const { status: refused } = await api.until<Pod>(named('waits'), (pod) =>
      pod.status.conditions?.some(({ message }) => message?.includes('denied')),
    );
    await api.post(podsOf(optedIn), podOn('ignored', { spec: { schedulerName: 'nobody' } }));
    await api.patch(`${podsOf(optedIn)}/ignored/status`, { status: { conditions: refused.conditions } });
    // the test is the scheduler: what it clears at once is named a second time, then steering pauses
    for (let tries = 0; tries < 2; tries += 1) {
      await api.until<Pod & { status: { nominatedNodeName?: string } }>(
        named('ignored'),
        (pod) => pod.status.nominatedNodeName === 'outside',
      );
      await api.patch(`${podsOf(optedIn)}/ignored/status`, { status: { nominatedNodeName: null } });
    }
    await measured(/^cni_gate_nomination_outcomes_total\{outcome="ignored"\} 1$/m);
    const { heldPods } = status('--config', join(cluster.folder, 'cni-gate.yaml'));
    const [ignored] = heldPods.filter(({ name }) => name === 'ignored');
    assert.equal(ignored?.unsent?.reason, 'ignored');
    assert.match(
      ignored.unsent.why,
      /^node outside was named for it at \S+Z, and the scheduler did not bind it there: steering pauses/,
    );
    await cluster.kubectl(['delete', 'pod', '-n', optedIn, 'waits', 'ignored', '--now']);
    await setReady(true);
    assert.equal(status().exit, 0);
  });

  test('a pod that was there before its namespace opted in runs without a proof; -n looks elsewhere', async () => {
    await apply(namespace('late'), podOn('early', { namespace: 'late' }));
    await api.until<Pod>(podsOf('late'), (pod) => pod.status.phase === 'Running');
    assert.equal(status().exit, 0);
    await cluster.kubectl(['label', 'namespace', 'late', `${profileLabel}=mesh`]);
    const { exit, unprovedPods } = status();
    assert.equal(exit, 1);
    assert.deepEqual(
      unprovedPods.map(({ why: _, ...pod }) => ({ ...pod, node: typeof pod.node })),
      [{ namespace: 'late', name: 'early', node: 'string', reason: 'not-reviewed' }],
    );
    assert.equal(status('-n', optedIn).exit, 0);
    await cluster.kubectl(['delete', 'namespace', 'late']);
  });

  test('a profile in use whose DaemonSet does not exist is a fault, with or without a ConfigMap', async () => {
    await apply(namespace('meshed', { [profileLabel]: 'linkerd' }));
    const { exit, faults } = status();
    assert.equal(exit, 1);
    assert.deepEqual(faults, [
      {
        code: 'CNI_GATE_DAEMONSET_UNKNOWN',
        message:
          'DaemonSet linkerd-cni/linkerd-cni of profile linkerd does not exist: nothing is held back for it',
      },
    ]);
    const builtIn = status('-n', 'meshed', '--own-namespace', 'nowhere');
    assert.match(
      builtIn.configuration,
      /^the built-in profiles \(there is no config\.yaml of ConfigMap nowhere\//,
    );
    assert.deepEqual(builtIn.faults, faults);
    await cluster.kubectl(['delete', 'namespace', 'meshed']);
  });

  test('a webhook that is not registered is a fault, also with --watch', async (t) => {
    const kinds = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'];
    const before = JSON.parse(
      await cluster.kubectl(['get', ...kinds.map((kind) => `${kind}/cni-gate`), '-o', 'json']),
    );
    const faulty = ({ faults }: Status): string[] => faults.map(({ code }) => code);
    const { until, end } = watching(t);
    await until(({ well }) => well);
    for (const kind of kinds) {
      await cluster.kubectl(['delete', kind, 'cni-gate']);
      const seen = await until(({ well }) => !well);
      assert.deepEqual(faulty(seen), ['CNI_GATE_NOT_REGISTERED']);
      const { exit, faults, verbs } = status();
      assert.equal(exit, 1);
      assert.match(
        faults[0]?.message ?? '',
        new RegExp(`in ${kind}/cni-gate, and namespaces have opted in$`),
      );
      assert.equal(verbs[kinds.indexOf(kind)]?.inForce, false);
      await apply(...before.items.map(bare));
      await until(({ well }) => well);
    }
    assert.equal(await end(), 0);
    await cluster.kubectl(['delete', ...kinds.map((kind) => `${kind}/cni-gate`)]);
    await cluster.kubectl(['label', 'namespace', optedIn, `${profileLabel}-`]);
    const nobody = status();
    assert.deepEqual([nobody.exit, nobody.verbs[1]?.inForce], [1, false]);
    assert.deepEqual(faulty(nobody), ['CNI_GATE_NOT_REGISTERED', 'CNI_GATE_NOT_REGISTERED']);
    await cluster.kubectl(['label', 'namespace', optedIn, `${profileLabel}=mesh`]);
    await apply(...before.items.map(bare));
    assert.equal(status().exit, 0);
  });

  test('a webhook without a caBundle is as one that is not registered, also with --watch', async (t) => {
    const patch = ['patch', 'validatingwebhookconfiguration', 'cni-gate', '--type=json', '-p'];
    const path = '/webhooks/1/clientConfig/caBundle';
    const value = await cluster.kubectl([
      ...['get', 'validatingwebhookconfiguration', 'cni-gate', '-o'],
      'jsonpath={.webhooks[1].clientConfig.caBundle}',
    ]);
    const { until, end } = watching(t);
    await until(({ well }) => well);
    await cluster.kubectl([...patch, JSON.stringify([{ op: 'remove', path }])]);
    await until(({ well }) => !well);
    const { exit, faults, verbs } = status();
    const why = 'there is no caBundle for placed-pods.cni-gate.io in validatingwebhookconfiguration/cni-gate';
    assert.deepEqual(
      [exit, verbs[1]?.inForce, verbs[1]?.why, faults],
      [1, false, why, [{ code: 'CNI_GATE_NOT_REGISTERED', message: `${why}, and namespaces have opted in` }]],
    );
    await cluster.kubectl([...patch, JSON.stringify([{ op: 'add', path, value }])]);
    await until(({ well }) => well);
    assert.equal(await end(), 0);
  });

  test('-n with a namespace that has not opted in says so, and how it would', async () => {
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

  test('with the service account of cni-gate it is not known whether all is well, and the rest is', async () => {
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
    const { verbs, faults, notKnown }: Status = JSON.parse(ended.stdout);
    assert.deepEqual(
      verbs.map(({ inForce }) => inForce),
      [true, true, true],
    );
    assert.deepEqual(faults, []);
    assert.match(notKnown[0] ?? '', /^Service cni-gate\/cni-gate: it may not be read$/);
  });

  test('with the role for people, bound as the refusal says, all is known, also with --watch', async (t) => {
    const { kubeconfig } = await cluster.user('reader');
    await cluster.kubectl(['apply', '-f', rightsOfPeople]);
    const { stderr } = cniGate(['status', '--kubeconfig', kubeconfig]);
    const [, advice = ''] = /runs: kubectl (create .*) \(CNI_GATE_CLUSTER_FORBIDDEN\)$/m.exec(stderr) ?? [];
    await cluster.kubectl(advice.split(' '));
    const known = ({ verbs }: Status): boolean => verbs.every(({ inForce }) => inForce !== null);
    await eventually(async () => {
      const { status: exit, stdout, stderr } = cniGate(['status', '--kubeconfig', kubeconfig, '-o', 'json']);
      assert.equal(exit, 0, stdout + stderr);
      assert.ok(known(JSON.parse(stdout)));
    });
    const { until, end } = watching(t, '--kubeconfig', kubeconfig);
    await until(({ well }) => well);
    // what changes is told by the watches
    await setReady(false);
    await until((seen) => stateOfN1(seen) === 'starting' && known(seen));
    await setReady(true);
    await until(({ well }) => well);
    assert.equal(await end(), 0);
  });

  test('a namespace that is not there, and a right that is missing, end with 2 and a code', async () => {
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
        /^It is not known whether all is well\. .*^gate +enforce +not known +validatingwebhookconfiguration\/cni-gate may not be read$/ms,
      );
    });
    const kind = 'mutatingwebhookconfigurations';
    await allow([...needed, ['', 'pods', 'list'], ['admissionregistration.k8s.io', kind, 'list']]);
    await eventually(async () =>
      assert.match(asSomebody().stdout, /^prove +enforce +yes .*^gate .* not known /ms),
    );
  });

  test('--context chooses a context of the kubeconfig, for certs as well', () => {
    const {
      clusters = [],
      contexts = [],
      users,
    } = JSON.parse(readFileSync(cluster.admin.kubeconfig, 'utf8'));
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

  test('--watch prints a document whenever something changes, and ends with the last exit code', async (t) => {
    const { until, end } = watching(t);
    await until(({ well }) => well);
    await setReady(false);
    await until((seen) => stateOfN1(seen) === 'starting' && !seen.well);
    await apply(namespace('later', { [profileLabel]: 'mesh' }), podOn('web', { namespace: 'later' }));
    await until(({ namespaces }) => namespaces.some(({ name }) => name === 'later'));
    await cluster.kubectl(['label', 'namespace', 'later', `${profileLabel}-`]);
    await until(({ namespaces }) => namespaces.length === 1);
    await setReady(true);
    await until(({ well }) => well);
    assert.equal(await end(), 0);
  });

  test('--watch tells that nobody answers any more, and that somebody does again', async (t) => {
    const slice = '/apis/discovery.k8s.io/v1/namespaces/cni-gate/endpointslices/cni-gate';
    const { endpoints } = await api.get<{ endpoints: object[] }>(slice);
    const { until, end } = watching(t);
    await until(({ well }) => well);
    await api.patch(slice, { endpoints: [] });
    const { headline, verbs } = await until(({ well }) => !well);
    assert.match(
      headline,
      /^Not all is well: Service cni-gate\/cni-gate: it has no endpoint, .*CNI_GATE_NO_ENDPOINTS/,
    );
    assert.deepEqual([verbs[0]?.inForce, verbs[1]?.inForce], [false, false]);
    await api.patch(slice, { endpoints });
    await until(({ well }) => well);
    assert.equal(await end(), 0);
  });

  test('--watch ends when nobody reads any more, and draws over the last status on a terminal', async (t) => {
    const args = ['status', '--kubeconfig', cluster.admin.kubeconfig, '--watch'];
    const unread = startCniGate(args);
    t.after(() => unread.kill('SIGKILL'));
    const over = once(unread, 'exit');
    assert.ok(unread.stdout);
    const [first] = await once(unread.stdout, 'data');
    // an empty line ends each, where nothing is drawn over
    assert.match(String(first), /^All is well.*\n\n$/s);
    unread.stdout.destroy();

    // exec: a shell that stays in between may take Ctrl-C for its own, and end with 130
    const commandLine = ['exec', process.execPath, main, ...args].join(' ');
    const terminal = spawn('script', ['-qec', commandLine, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => terminal.kill('SIGKILL'));
    const shown = terminal.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
    const until = async (text: RegExp | ((seen: string) => boolean)): Promise<void> => {
      const isIt = typeof text === 'function' ? text : (seen: string) => text.test(seen);
      for (let seen = ''; !isIt(seen); ) {
        const { value, done } = await shown.next();
        assert.ok(!done, seen);
        seen += value;
      }
    };
    await until(/\[H\S*\[J\S*All is well/s);
    t.after(() => setReady(true));
    await setReady(false);
    await until(/\[H\S*\[J\S*Not all is well/s);
    // it is drawn again where only time went on, as it tells ages
    await until((seen) => {
      const frames = seen.split('\u001b[H').filter((frame) => /ll is well/.test(frame));
      const timeless = frames.map((frame) => frame.replaceAll(/Status at \S+|\(\d\w*\)/g, ''));
      return frames.some((frame, at) => timeless[at] === timeless[at + 1] && frame !== frames[at + 1]);
    });
    // Ctrl-C
    terminal.stdin.write('\u0003');
    const [[code]] = await Promise.all([once(terminal, 'exit'), over]);
    assert.equal(code, 1);
  });

  test('--watch goes on through an outage, and tells it', async (t) => {
    const { until, reported, end } = watching(t);
    await until(({ well }) => well);
    const { 'kube-apiserver': apiServer } = cluster.components;
    await apiServer.kill();
    await reported(/^cni-gate: cannot \w+ nodes: no answer of the API server .*; it is tried again$/);
    await apiServer.start();
    await setReady(false);
    await until((seen) => stateOfN1(seen) === 'starting');
    await setReady(true);
    await until(({ well }) => well);
    assert.equal(await end(), 0);
  });

  test('a reboot is seen by who watched it, and not by who comes later', async (t) => {
    const { until, end } = watching(t);
    await until(({ well }) => well);
    // the next line comes from the watches: until then they may not have seen the boot before
    await setReady(false);
    await until((seen) => stateOfN1(seen) === 'starting');
    await setReady(true);
    await until(({ well }) => well);
    await api.patch('/api/v1/nodes/n1/status', { status: { nodeInfo: { bootID: 'another' } } });
    await until((seen) => stateOfN1(seen) === 'rebooted');
    assert.equal(status().exit, 0);
    await setReady(true, 'containerd://2');
    await until(({ well }) => well);
    assert.equal(await end(), 0);
  });
});
