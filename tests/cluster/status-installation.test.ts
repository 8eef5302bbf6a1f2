import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import type { Status } from '../../webhook/status/model.ts';
import { cniGate, type Ended } from '../support/command.ts';
import type { Access } from './harness/access.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { install, runningPods } from './installed/installation.ts';
import { overlayPath } from './installed/overlay.ts';
import { type RunningPod, startPod } from './installed/pod.ts';
import { calls, makeNamespace } from './installed/working.ts';

/* The overlay strict as it is installed, and what `status` says when a part of it is taken away. */

const cluster = await Cluster.start();
after(() => cluster.stop());
let { replicas } = await install(cluster, 'strict');
const endAll = (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
after(endAll);
const { api } = cluster;
const kubectl = (text: string): Promise<string> => cluster.kubectl(text.split(' '));

/** The network that profile cilium waits for, ready on both nodes. */
async function bringNetwork(): Promise<void> {
  const labels = { app: 'cilium' };
  const spec = { hostNetwork: true, containers: [{ name: 'cilium-agent', image: 'example/cilium' }] };
  await cluster.kubectl(['apply', '-f', '-'], {
    input: [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { namespace: 'kube-system', name: 'cilium' },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      },
    ],
  });
}

const command = (args: string[], { kubeconfig }: Pick<Access, 'kubeconfig'> = cluster.admin): Ended =>
  cniGate(['status', '--kubeconfig', kubeconfig, ...args]);

/** The text of `status --probe`, with the lines that were folded in one piece. */
const probed = (): string => command(['--probe']).stdout.replaceAll(/\n {2}(?=\S)/g, ' ');

interface Reported extends Status {
  exit: number | null;
}

/** The status as programs get it, with the exit code. */
function status(args: string[] = [], access?: Access): Reported {
  const { status: exit, stdout, stderr } = command(['--output', 'json', ...args], access);
  assert.equal(stderr, '');
  return { ...JSON.parse(stdout), exit };
}

const codes = ({ faults }: Status): string[] => faults.map(({ code }) => code);

/** Waits until `status` ends with a code of faults, and says what the first line of its text is then. */
async function until(code: string, seconds?: number): Promise<string> {
  await eventually(async () => {
    const seen = status();
    assert.deepEqual([seen.exit, codes(seen)[0]], [1, code]);
  }, seconds);
  return firstLine();
}

function firstLine(...args: string[]): string {
  const { status: exit, stdout } = command(args);
  assert.equal(exit, 1, stdout);
  return stdout.split('\n')[0] ?? '';
}

const allIsWell = (): Promise<void> =>
  eventually(async () => {
    const { status: exit, stdout } = command([]);
    assert.equal(exit, 0, stdout);
    assert.match(stdout, /^All is well\.\n/);
  });

/** Applies the overlay again, as a user does after something was taken away. */
const applyAgain = (): Promise<string> => kubectl(`apply -k ${overlayPath('strict')}`);

/** Runs the Deployment's pods as they are now. */
async function startReplicas(): Promise<void> {
  const pods = await runningPods(cluster, 2);
  replicas = await Promise.all(pods.map((pod): Promise<RunningPod> => startPod(cluster, pod)));
}

await bringNetwork();
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

suite('with all in order', () => {
  test('status ends with 0, and all that admission depends on was seen', async () => {
    await allIsWell();
    const { installation, verbs, notKnown, probe } = status();
    assert.deepEqual(
      installation.map(({ object, inOrder, what }) => [object, inOrder, what.replace(/^held by .*/, 'held')]),
      [
        ['Deployment cni-gate/cni-gate', true, '2 of 2 replicas are ready'],
        ['Service cni-gate/cni-gate', true, '2 of 2 endpoints are ready'],
        ['Secret cni-gate/cni-gate-tls', true, 'every caBundle trusts its certificate'],
        ['Policy pods.cni-gate.io', true, 'bound: Deny'],
        ['Policy service-account.cni-gate.io', true, 'bound: Deny'],
        ['Lease cni-gate/cni-gate-leader', true, 'held'],
      ],
    );
    assert.ok(verbs.every(({ inForce }) => inForce));
    assert.deepEqual([notKnown, probe], [[], null]);
  });

  test('--probe goes the whole way, and changes nothing', async () => {
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
          what: 'the pod comes back with cni-gate-validator (address, gateway)',
        },
      ],
    );
    assert.ok((await calls(cluster)) > called, 'the webhook was not called');
    assert.equal(await pods(), before);
    assert.match(
      probed(),
      /^All is well\.\nProbe in namespace shop: the pod comes back with cni-gate-validator/,
    );
  });

  test('--probe suits Pod Security restricted, quotas, and profiles that ask something of a pod', async () => {
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

  test('where a quota is used up, the next namespace is asked; alone it leaves the question open', async () => {
    await makeNamespace(cluster, 'full', { [profileLabel]: 'cilium' });
    await makeQuota('full', { pods: '0' });
    const next = status(['--probe']);
    assert.deepEqual([next.exit, next.probe?.namespace, next.probe?.outcome], [0, 'shop', 'injected']);
    const { status: exit, stdout } = command(['--probe', '-n', 'full']);
    assert.equal(exit, 2, stdout);
    assert.match(
      stdout,
      /^It is not known whether all is well\. Not known: the probe was not made: .*exceeded quota/,
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

suite('by the rights of whoever asks', () => {
  test('with ClusterRole cni-gate-status all is known but the certificate; with the probe that as well', async () => {
    const reader = await cluster.user('reader');
    await kubectl('create clusterrolebinding reader --clusterrole=cni-gate-status --user=reader');
    const expected =
      'All is well, as far as it is known. Not known: Certificate (Secret cni-gate/cni-gate-tls may not be read).';
    await eventually(async () => {
      const seen = status([], reader);
      assert.deepEqual([seen.exit, seen.headline], [0, expected]);
    });
    const lacking = status(['--probe'], reader);
    assert.deepEqual([lacking.exit, lacking.probe?.outcome], [2, 'not-made']);
    assert.match(lacking.headline, /the probe was not made: .*RBAC lacks verb "create" on resource "pods"/);
    await kubectl('-n shop create role probe --verb=create --resource=pods');
    await kubectl('-n shop create rolebinding probe --role=probe --user=reader');
    await eventually(async () => {
      const seen = status(['--probe'], reader);
      assert.deepEqual([seen.exit, seen.headline], [0, 'All is well.']);
    });
  });

  test('who sees pods and webhooks alone is not told that all is well', async () => {
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

suite('with something taken away', () => {
  test('the Deployment scaled to 0', async () => {
    await kubectl('-n cni-gate scale deployment cni-gate --replicas=0');
    await endAll();
    const line = await until('CNI_GATE_DEPLOYMENT');
    assert.match(
      line,
      /^Not all is well: Deployment cni-gate\/cni-gate: it is scaled to 0 replicas, so every new pod/,
    );
    await eventually(async () => assert.ok(codes(status()).includes('CNI_GATE_NO_ENDPOINTS')));
    assert.match(
      probed(),
      /^Probe in namespace shop: .*failed calling webhook "pods\.cni-gate\.io": .*no endpoints/m,
    );
    // what the first line says to do
    const [, advice = ''] = /Run "kubectl (.*?)"/.exec(line) ?? [];
    await kubectl(advice);
    await startReplicas();
    await allIsWell();
  });

  test("the Service's endpoints", async () => {
    const select = (name: string): Promise<string> =>
      cluster.kubectl([
        ...['-n', 'cni-gate', 'patch', 'service', 'cni-gate', '-p'],
        JSON.stringify({ spec: { selector: { 'app.kubernetes.io/name': name } } }),
      ]);
    await select('somebody-else');
    assert.match(
      await until('CNI_GATE_NO_ENDPOINTS'),
      /^Not all is well: Service cni-gate\/cni-gate: it has no endpoint, so every new pod of namespaces that opted in is refused\./,
    );
    assert.match(firstLine('--probe'), /CNI_GATE_NO_ENDPOINTS/);
    await select('cni-gate');
    await allIsWell();
  });

  test('the port of the endpoints: a targetPort that names no port of the pods', async () => {
    const target = (targetPort: string): Promise<string> =>
      cluster.kubectl([
        ...['-n', 'cni-gate', 'patch', 'service', 'cni-gate', '--type=json', '-p'],
        JSON.stringify([{ op: 'replace', path: '/spec/ports/0/targetPort', value: targetPort }]),
      ]);
    await target('nosuch');
    assert.match(
      await until('CNI_GATE_NO_ENDPOINTS'),
      /^Not all is well: Service cni-gate\/cni-gate: none of its 2 endpoints has a TCP port for port 443, so every new pod /,
    );
    await target('https');
    await allIsWell();
  });

  test('what a webhook is called for: a selector that no pod fits, and operations that make no pod', async () => {
    const patch = (kind: string, op: string, path: string, value?: unknown): Promise<string> =>
      cluster.kubectl([
        ...['patch', `${kind}webhookconfiguration`, 'cni-gate', '--type=json', '-p'],
        JSON.stringify([{ op, path, value }]),
      ]);
    await patch('mutating', 'add', '/webhooks/0/objectSelector', { matchLabels: { nobody: 'has-it' } });
    assert.match(
      await until('CNI_GATE_NOT_REGISTERED'),
      /^Not all is well: mutatingwebhookconfiguration\/cni-gate is not as in the manifests of .*: objectSelector of pods\.cni-gate\.io\. Apply /,
    );
    assert.equal(status().verbs[0]?.inForce, false);
    // apply keeps what it did not write, as the advice says
    await applyAgain();
    await until('CNI_GATE_NOT_REGISTERED');
    await patch('mutating', 'remove', '/webhooks/0/objectSelector');
    await allIsWell();
    await patch('validating', 'replace', '/webhooks/0/rules/0/operations', ['DELETE']);
    assert.match(await until('CNI_GATE_NOT_REGISTERED'), /: rules of bindings\.cni-gate\.io\. Apply /);
    assert.deepEqual(
      status().verbs.map(({ inForce }) => inForce),
      [true, false, false],
    );
    await applyAgain();
    await allIsWell();
  });

  test('the trust: a caBundle of a stranger, which the replicas may not replace', async () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/cni-gate';
    const { rules } = await api.get<{ rules: { resources: string[]; verbs: string[] }[] }>(role);
    const readOnly = rules.map(({ verbs, ...rule }) => ({
      ...rule,
      verbs: rule.resources.includes('mutatingwebhookconfigurations') ? ['get', 'list', 'watch'] : verbs,
    }));
    await api.patch(role, { rules: readOnly });
    const stranger = Buffer.from(cluster.authority.pair.certificate).toString('base64');
    const change = { op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: stranger };
    await eventually(async () => {
      await cluster.kubectl([
        ...['patch', 'mutatingwebhookconfiguration', 'cni-gate', '--type=json', '-p'],
        JSON.stringify([change]),
      ]);
      // the replicas lose the right a moment after it was taken
      assert.equal(status().exit, 1);
    });
    assert.match(
      await until('CNI_GATE_CA_BUNDLE'),
      /^Not all is well: Secret cni-gate\/cni-gate-tls: the API server does not accept its certificate for pods\.cni-gate\.io: it is signed by no authority of the caBundle\. /,
    );
    assert.match(
      probed(),
      /^Probe in namespace shop: .*failed calling webhook "pods\.cni-gate\.io": .*x509: certificate signed by unknown authority/m,
    );
    assert.deepEqual(
      status().verbs.map(({ verb, inForce }) => [verb, inForce]),
      [
        ['prove', false],
        ['gate', true],
        ['steer', true],
      ],
    );
    await api.patch(role, { rules });
    // any change makes the replicas look again
    await kubectl('annotate mutatingwebhookconfiguration cni-gate look=again');
    await allIsWell();
  });

  for (const name of ['pods.cni-gate.io', 'service-account.cni-gate.io']) {
    test(`the binding of policy ${name}, and the policy`, async () => {
      await kubectl(`delete validatingadmissionpolicybinding ${name}`);
      const line = await until('CNI_GATE_POLICY');
      assert.ok(line.startsWith(`Not all is well: Policy ${name}: its binding does not exist, so `), line);
      await kubectl(`delete validatingadmissionpolicy ${name}`);
      assert.match(firstLine(), /it does not exist, so .*\(CNI_GATE_POLICY\)$/);
      await applyAgain();
      await allIsWell();
    });
  }

  test('what a policy asks, and that it denies', async () => {
    const policy = 'validatingadmissionpolicy pods.cni-gate.io';
    const binding = 'validatingadmissionpolicybinding pods.cni-gate.io';
    const patch = (object: string, change: object): Promise<string> =>
      cluster.kubectl(['patch', ...object.split(' '), '--type=json', '-p', JSON.stringify([change])]);
    await patch(policy, { op: 'replace', path: '/spec/validations/1/expression', value: 'true' });
    assert.match(firstLine(), /Policy pods\.cni-gate\.io: its rules are not those of cni-gate \d/);
    await applyAgain();
    await patch(binding, { op: 'replace', path: '/spec/validationActions', value: ['Warn'] });
    assert.match(firstLine(), /its binding does not deny \(validationActions: Warn\)/);
    await applyAgain();
    await kubectl('-n cni-gate delete configmap cni-gate-policy');
    assert.match(
      firstLine(),
      /its ConfigMap cni-gate\/cni-gate-policy does not exist, so every pod .* is refused/,
    );
    await applyAgain();
    await allIsWell();
  });

  test('a webhook configuration, also before any namespace has opted in', async () => {
    await kubectl('label namespace shop cni-gate.io/profile-');
    assert.equal(status().exit, 0);
    await kubectl('delete validatingwebhookconfiguration cni-gate');
    assert.match(await until('CNI_GATE_NOT_REGISTERED'), /there is no webhook bindings\.cni-gate\.io/);
    await applyAgain();
    await kubectl('label namespace shop cni-gate.io/profile=cilium');
    await allIsWell();
  });

  test('the processes, while their pods still read Ready: nobody leads, and the probe says that nobody answers', async () => {
    await endAll();
    const { exit, probe } = status(['--probe']);
    assert.deepEqual([exit, probe?.outcome], [1, 'failed']);
    assert.match(
      firstLine('--probe'),
      /a new pod in namespace shop: .*failed calling webhook .*connection refused/,
    );
    assert.match(await until('CNI_GATE_NO_LEADER', 60), /holds it and has not renewed it since 20/);
  });
});

test('after an uninstall, as the guide has it, it is not installed', async () => {
  const admitting =
    'mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicybindings';
  await kubectl(`delete ${admitting} -l cni-gate.io/admits=pods`);
  await kubectl(`delete --ignore-not-found -k ${overlayPath('strict')}`);
  const labelled = status();
  assert.deepEqual([labelled.exit, labelled.verdict], [3, 'not-installed']);
  assert.match(labelled.headline, /opted in are not looked after: shop\./);
  await kubectl('label namespaces --all cni-gate.io/profile-');
  const { status: exit, stdout } = command([]);
  assert.equal(exit, 3, stdout);
  assert.match(stdout, /^cni-gate is not installed: /);
  assert.doesNotMatch(stdout, /All is well/);
  assert.deepEqual(codes(status()), ['CNI_GATE_NOT_INSTALLED']);
});
