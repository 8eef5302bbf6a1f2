import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, suite, test } from 'node:test';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { version } from '../../webhook/lib/version.ts';
import type { Check, CheckReport } from '../../webhook/report/show/check.ts';
import type { Status } from '../../webhook/report/show/status.ts';
import { cniGate, type Ended, startCniGate } from '../support/command.ts';
import { schemaFaults } from '../support/schemas.ts';
import type { Access } from './harness/access.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { install } from './installed/installation.ts';
import { tryPod } from './installed/overlay.ts';
import type { RunningPod } from './installed/pod.ts';
import { bringNetwork, makeNamespace } from './installed/working.ts';

/* `cni-gate check` on a control plane without cni-gate, on a good installation, and on a broken one. */

const cluster = await startCluster();
const { api } = cluster;
const kubectl = (text: string): Promise<string> => cluster.kubectl(text.split(' '));
const faultsOf = schemaFaults('check');

interface Reported extends CheckReport {
  exit: number | null;
}

const command = (args: string[], { kubeconfig }: Pick<Access, 'kubeconfig'> = cluster.admin): Ended =>
  cniGate(['check', '--kubeconfig', kubeconfig, ...args]);

async function report(args: string[] = [], access?: Pick<Access, 'kubeconfig'>): Promise<Reported> {
  const { status: exit, stdout, stderr } = command(['-o', 'json', ...args], access);
  assert.equal(stderr, '');
  const reported: CheckReport = JSON.parse(stdout);
  assert.deepEqual(faultsOf(reported), []);
  return { ...reported, exit };
}

const resultOf = ({ checks }: CheckReport, id: Check['id']): string | undefined =>
  checks.find((check) => check.id === id)?.result;

/** Waits until `id` is the first failed check and the first line of the output names it. */
async function names(id: Check['id'], what: RegExp, access?: Pick<Access, 'kubeconfig'>): Promise<void> {
  await eventually(async () => {
    const { exit, headline, checks } = await report([], access);
    const first = checks.find(({ result }) => result === 'failed');
    assert.deepEqual([exit, first?.id], [1, id], headline);
    assert.match(first?.what ?? '', what);
    assert.match(headline, new RegExp(`^\\d+ of \\d+ checks failed\\. ${id}: `));
  });
  const { stdout } = command([], access);
  assert.match(stdout.split('\n')[0] ?? '', new RegExp(`checks failed\\. ${id}: .*\\(CNI_GATE_[A-Z_]+\\)$`));
  assert.match(
    stdout,
    new RegExp(`^✗ ${id} .*\\n(?: .*\\n)*    https://\\S*/reference/errors\\.md#${id}\\n`, 'm'),
  );
}

/** The headline for a good installation of `strict`, on a Kubernetes with or without mutating policies. */
const well = /^(All \d+ checks passed\.|No check failed\. Warnings: mutating-policy: [^;]*)$/;

const allIsWell = (): Promise<void> =>
  eventually(async () => {
    const { exit, headline } = await report();
    assert.deepEqual([exit, well.test(headline)], [0, true], headline);
  });

const patchJson = (object: string, ...operations: object[]): Promise<string> =>
  cluster.kubectl(['patch', ...object.split(' '), '--type=json', '-p', JSON.stringify(operations)]);

let replicas: RunningPod[] = [];
const endAll = (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
after(endAll);

test('a bare cluster: --pre finds no failure; without --pre, cni-gate is not installed', async () => {
  const pre = await report(['--pre']);
  assert.deepEqual([pre.exit, pre.result, pre.counts.failed, pre.counts['not-known']], [0, 'passed', 0, 0]);
  assert.equal(resultOf(pre, 'install-rights'), 'passed');
  assert.equal(resultOf(pre, 'not-installed-yet'), 'passed');
  assert.equal(resultOf(pre, 'networks'), 'warning');
  assert.deepEqual(
    pre.proposals.map(({ profile }) => profile),
    ['pod-network'],
  );
  const { exit, headline } = await report();
  assert.equal(exit, 3);
  assert.match(headline, /installed: cni-gate is not installed: .*\(CNI_GATE_NOT_INSTALLED\)$/);
});

test('--pre by a user without rights names the missing right, and continues', async () => {
  const nobody = await cluster.user('nobody');
  const pre = await report(['--pre'], nobody);
  assert.equal(pre.exit, 1);
  assert.match(pre.headline, /install-rights: you may not create .* \(CNI_GATE_RIGHTS\)$/);
  assert.equal(resultOf(pre, 'kubernetes-version'), 'passed');
  const networks = pre.checks.find(({ id }) => id === 'networks');
  assert.deepEqual(
    [networks?.result, networks?.what],
    [
      'not-known',
      'DaemonSets may not be read: RBAC lacks verb "list" on resource "daemonsets" of API group "apps"',
    ],
  );
});

test('--pre with a network proposes its profile, and the command labels a namespace', async () => {
  await bringNetwork(cluster);
  await makeNamespace(cluster, 'shop');
  const { proposals, networks } = await report(['--pre']);
  assert.deepEqual(
    networks.map(({ profile, complete }) => [profile, complete]),
    [['cilium', true]],
  );
  const [{ profile, command: label = '' } = {}] = proposals;
  assert.equal(profile, 'cilium');
  await kubectl(label.replace(/^kubectl /, '').replace('NAMESPACE', 'shop'));
  const { metadata } = await api.get<{ metadata: { labels: Record<string, string> } }>(
    '/api/v1/namespaces/shop',
  );
  assert.equal(metadata.labels[profileLabel], 'cilium');
});

suite('installed', () => {
  test('a good installation: every check passes, including the probe', async () => {
    ({ replicas } = await install(cluster, 'strict'));
    await allIsWell();
    const { exit, checks, cluster: which } = await report();
    assert.equal(exit, 0);
    assert.deepEqual(
      checks.filter(({ result }) => result !== 'passed').map(({ id, result }) => `${id}: ${result}`),
      ['mutating-policy: warning'],
    );
    assert.deepEqual([which.server, which.serverVersion], [cluster.server.url, version]);
    assert.equal(which.clientVersion, version);
    assert.match(
      command([]).stdout,
      /^No check failed\. Warnings: mutating-policy: .*\nCluster: https:\S+ \(context \S+\)\. cni-gate: client .*\n/,
    );
    assert.equal(resultOf(await report(['--pre']), 'not-installed-yet'), 'warning');
  });

  test('no endpoints: --wait continues until they are back', async () => {
    const select = (name: string): Promise<string> =>
      patchJson('service cni-gate -n cni-gate', {
        op: 'replace',
        path: '/spec/selector',
        value: { 'app.kubernetes.io/name': name },
      });
    await select('somebody-else');
    await names('service', /^Service cni-gate\/cni-gate: it has no endpoint, so every new pod/);
    const child = startCniGate(['check', '--kubeconfig', cluster.admin.kubeconfig, '--wait', '5m']);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    assert.ok(child.stderr);
    const [chunk] = await once(child.stderr, 'data');
    assert.match(String(chunk), /^cni-gate: waiting: \d+ of \d+ checks failed\. service: /);
    // the rest is read as well, because a full pipe would block the command
    child.stderr.resume();
    child.stdout?.resume();
    await select('cni-gate');
    assert.equal(await ended, 0);
  });

  test('an account that may read everything but create no pods: no result, and the missing right', async () => {
    const reader = await cluster.user('reader');
    await kubectl('create clusterrole check-reader --verb=get,list --resource=*.*');
    await kubectl(
      'create clusterrole check-asker --verb=create --resource=subjectaccessreviews.authorization.k8s.io',
    );
    for (const role of ['check-reader', 'check-asker'])
      await kubectl(`create clusterrolebinding ${role} --clusterrole=${role} --user=reader`);
    await eventually(async () => {
      const { exit, result, headline, checks } = await report([], reader);
      assert.deepEqual([exit, result], [2, 'not-known'], headline);
      assert.match(headline, / Not known: probe\.$/);
      const probe = checks.find(({ id }) => id === 'probe');
      assert.match(probe?.what ?? '', /RBAC lacks verb "create" on resource "pods" of API group ""; or run/);
    });
    assert.equal((await report(['--no-probe'], reader)).exit, 0);
  });

  async function setProof(fields: object): Promise<void> {
    const configuration = {
      apiVersion: 'cni-gate.io/v1alpha1',
      kind: 'Configuration',
      proof: { mode: 'enforce', ...fields },
      repair: { mode: 'recreate' },
    };
    await api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate', {
      data: { 'config.yaml': JSON.stringify(configuration) },
    });
    await Promise.all(replicas.map((replica) => replica.refresh()));
  }

  test('a LimitRange that the init container does not fit until proof.resources is set', async () => {
    const metadata = { namespace: 'shop', name: 'small' };
    const limits = [{ type: 'Container', min: { cpu: '5m' } }];
    await cluster.apply({ apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } });
    const resources = { requests: { cpu: '1', memory: '64Mi' }, limits: { cpu: '2', memory: '64Mi' } };
    const sized = pod('sized', { containers: [{ name: 'web', image: 'example/web', resources }] });
    await eventually(() =>
      assert.rejects(
        tryPod(cluster, 'shop', sized),
        /minimum cpu usage per Container is 5m, but request is 2m/,
      ),
    );
    await names('resources', /^namespace shop, LimitRange small: min\.cpu is 5m, requests\.cpu 2m$/);
    await setProof({ resources: { requests: { cpu: '5m' } } });
    const { spec } = await eventually(() => tryPod<Pod>(cluster, 'shop', sized));
    assert.equal(spec.initContainers?.[0]?.resources?.requests?.cpu, '5m');
    await allIsWell();
  });

  test('--probe in namespaces with Pod Security restricted and with a quota, by profiles with conditions', async () => {
    await makeNamespace(cluster, 'restricted-ns', {
      [profileLabel]: 'linkerd',
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
    await makeNamespace(cluster, 'quota-ns', { [profileLabel]: 'multus' });
    const hard = 'requests.cpu=1,limits.cpu=1,requests.memory=1Gi,limits.memory=1Gi';
    await kubectl(`-n quota-ns create quota all --hard=${hard}`);
    await api.until<{ status?: { hard?: object } }>(
      '/api/v1/namespaces/quota-ns/resourcequotas',
      ({ status }) => status?.hard,
    );
    for (const [name, checks] of [
      ['restricted-ns', 'redirect'],
      ['quota-ns', 'interfaces'],
    ] as const) {
      const { kubeconfig } = cluster.admin;
      const { stdout } = cniGate(['status', '--kubeconfig', kubeconfig, '-o', 'json', '--probe', '-n', name]);
      const { probe }: Status = JSON.parse(stdout);
      assert.deepEqual(
        [probe?.outcome, probe?.what],
        ['injected', `the pod comes back with cni-gate-validator (${checks})`],
      );
    }
    await kubectl('delete namespace restricted-ns quota-ns');
  });

  test('status with ClusterRole cni-gate-status: everything but the certificate is known', async () => {
    const { kubeconfig } = await cluster.user('viewer');
    await kubectl('create clusterrolebinding viewer --clusterrole=cni-gate-status --user=viewer');
    await eventually(async () => {
      const { status, stdout } = cniGate(['status', '--kubeconfig', kubeconfig]);
      assert.equal(status, 0, stdout);
      assert.match(
        stdout.replaceAll(/\n {2}(?=\S)/g, ' '),
        /^All is well, as far as it is known\. Not known: Certificate: Secret cni-gate\/cni-gate-tls may not be read: RBAC lacks /,
      );
    });
  });

  // Replicas would correct some of these faults. After they end, their pods still read Ready: nothing probes them here.
  test('faults of every kind together, with no replica to correct them', async () => {
    const admission = '/apis/admissionregistration.k8s.io/v1';
    await setProof({ allowOptOut: false });
    await endAll();
    await kubectl('delete validatingadmissionpolicybinding pods.cni-gate.io');
    await makeNamespace(cluster, 'typo', { [profileLabel]: 'cillium' });
    await kubectl('-n kube-system delete daemonset cilium');
    const value = Buffer.from(cluster.authority.pair.certificate).toString('base64');
    for (const [kind, path, to] of [
      ['mutating', 'caBundle', value],
      ['validating', 'service/namespace', 'gone'],
    ] as const) {
      await api.request('PATCH', `${admission}/${kind}webhookconfigurations/cni-gate`, {
        type: 'application/json-patch+json',
        body: [{ op: 'replace', path: `/webhooks/0/clientConfig/${path}`, value: to }],
      });
    }
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/cni-gate';
    const { rules } = await api.get<{ rules: { resources: string[] }[] }>(role);
    await api.patch(role, { rules: rules.filter(({ resources }) => !resources.includes('nodes')) });
    const renewTime = new Date(Date.now() - 600_000).toISOString().replace('Z', '000Z');
    await api.patch('/apis/coordination.k8s.io/v1/namespaces/cni-gate/leases/cni-gate-leader', {
      spec: { renewTime },
    });
    const expected: [Check['id'], RegExp][] = [
      ['policy-pods', /^Policy pods\.cni-gate\.io: its binding does not exist/],
      ['namespace-labels', /^namespace typo: profile "cillium" does not exist \(did you mean "cilium"\?\)/],
      ['daemonsets', /^DaemonSet kube-system\/cilium of profile cilium does not exist/],
      [
        'opt-out',
        /^proof\.allowOptOut is false, and the label cni-gate\.io\/profile: none still opens webhook/,
      ],
      ['certificate', /for pods\.cni-gate\.io: it is signed by no authority of the caBundle$/],
      ['service', /webhooks bindings\.cni-gate\.io call another server/],
      ['server-rights', /^service account cni-gate\/cni-gate may not list nodes, watch nodes$/],
      ['leader', /^Lease cni-gate\/cni-gate-leader: \S+ holds it and has not renewed it since 20/],
    ];
    await eventually(async () => {
      const { exit, checks } = await report();
      assert.equal(exit, 1);
      for (const [id, what] of expected)
        assert.match(
          checks.find((check) => check.id === id && check.result === 'failed')?.what ?? '',
          what,
          id,
        );
    });
  });
});
