import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, suite, test } from 'node:test';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { version } from '../../webhook/lib/version.ts';
import type { CheckId, Row } from '../../webhook/report/judge/catalogue.ts';
import type { Report } from '../../webhook/report/show/report.ts';
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
const faultsOf = schemaFaults('report');

interface Reported extends Report {
  exit: number | null;
}

const command = (args: string[], { kubeconfig }: Pick<Access, 'kubeconfig'> = cluster.admin): Ended =>
  cniGate(['check', '--kubeconfig', kubeconfig, ...args]);

async function report(args: string[] = [], access?: Pick<Access, 'kubeconfig'>): Promise<Reported> {
  const { status: exit, stdout, stderr } = command(['-o', 'json', ...args], access);
  assert.equal(stderr, '');
  const reported: Report = JSON.parse(stdout);
  assert.deepEqual(faultsOf(reported), []);
  return { ...reported, exit };
}

const rowOf = ({ rows }: Report, id: CheckId): Row | undefined => rows.find(({ check }) => check === id);

/** Waits until `id` is the first failed check and the first line of the output names it. */
async function names(id: CheckId, what: RegExp, access?: Pick<Access, 'kubeconfig'>): Promise<void> {
  await eventually(async () => {
    const { exit, headline, rows } = await report([], access);
    const first = rows.find(({ result }) => result === 'failed');
    assert.deepEqual([exit, first?.check], [1, id], headline);
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

const allIsWell = (): Promise<void> =>
  eventually(async () => {
    const { exit, headline } = await report();
    assert.deepEqual([exit, /^All \d+ checks passed\.$/.test(headline)], [0, true], headline);
  });

const patchJson = (object: string, ...operations: object[]): Promise<string> =>
  cluster.kubectl(['patch', ...object.split(' '), '--type=json', '-p', JSON.stringify(operations)]);

let replicas: RunningPod[] = [];
const endAll = (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
after(endAll);

test('a bare cluster: --pre finds no failure; without --pre, cni-gate is not installed', async () => {
  const pre = await report(['--pre']);
  assert.deepEqual([pre.exit, pre.result], [0, 'passed']);
  assert.deepEqual(
    pre.rows.map(({ check, result }) => `${check}: ${result}`),
    ['kubernetes-version: passed', 'networks: warning'],
  );
  assert.match(rowOf(pre, 'networks')?.hint ?? '', /cni-gate\.io\/profile=pod-network$/);
  const { exit, headline } = await report();
  assert.equal(exit, 3);
  assert.match(headline, /installed: cni-gate is not installed: .*\(CNI_GATE_NOT_INSTALLED\)$/);
});

test('--pre by a user without rights names the missing right, and continues', async () => {
  const nobody = await cluster.user('nobody');
  const pre = await report(['--pre'], nobody);
  assert.equal(pre.exit, 2);
  assert.equal(rowOf(pre, 'kubernetes-version')?.result, 'passed');
  const { result, what } = rowOf(pre, 'networks') ?? {};
  const right =
    'DaemonSets may not be read: RBAC lacks verb "list" on resource "daemonsets" of API group "apps"';
  assert.deepEqual([result, what], ['not-known', right]);
});

test('--pre with a network proposes its profile, and the command labels a namespace', async () => {
  await bringNetwork(cluster);
  await makeNamespace(cluster, 'shop');
  const { result, what, hint = '' } = rowOf(await report(['--pre']), 'networks') ?? {};
  assert.deepEqual([result, what], ['passed', 'profiles that fit: cilium']);
  await kubectl(hint.replace(/^kubectl /, '').replace('NAMESPACE', 'shop'));
  const { metadata } = await api.get<{ metadata: { labels: Record<string, string> } }>(
    '/api/v1/namespaces/shop',
  );
  assert.equal(metadata.labels[profileLabel], 'cilium');
});

suite('installed', () => {
  test('a good installation: every check passes, including the probe', async () => {
    ({ replicas } = await install(cluster, 'strict'));
    await allIsWell();
    const { exit, rows, cluster: which } = await report();
    assert.equal(exit, 0);
    assert.deepEqual(new Set(rows.map(({ result }) => result)), new Set(['passed']));
    assert.ok(rows.some(({ check, object }) => check === 'probe' && object === 'shop'));
    assert.deepEqual([which.server, which.serverVersion], [cluster.server.url, version]);
    assert.equal(which.clientVersion, version);
    assert.match(
      command([]).stdout,
      /^All \d+ checks passed\.\nCluster: https:\S+ \(context \S+\)\. cni-gate: client .*\n/,
    );
  });

  test('no endpoints: --wait continues until they are back', async () => {
    const select = (name: string): Promise<string> =>
      patchJson('service cni-gate -n cni-gate', {
        op: 'replace',
        path: '/spec/selector',
        value: { 'app.kubernetes.io/name': name },
      });
    await select('somebody-else');
    await names(
      'service',
      /^Service cni-gate\/cni-gate: none of its 0 endpoints .*, so new pods .* are refused$/,
    );
    const child = startCniGate(['check', '--kubeconfig', cluster.admin.kubeconfig, '--wait', '5m']);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    assert.ok(child.stderr);
    const [chunk] = await once(child.stderr, 'data');
    assert.match(String(chunk), /^cni-gate: waiting: \d+ of \d+ checks failed\. service: /);
    // also reads the rest of the output, because a full pipe would block the command
    child.stderr.resume();
    child.stdout?.resume();
    await select('cni-gate');
    assert.equal(await ended, 0);
  });

  test('an account that may read everything but create no pods: no result, and the missing right', async () => {
    const reader = await cluster.user('reader');
    await kubectl('create clusterrole check-reader --verb=get,list --resource=*.*');
    await kubectl('create clusterrolebinding check-reader --clusterrole=check-reader --user=reader');
    await eventually(async () => {
      const shown = await report([], reader);
      const { exit, result, headline } = shown;
      assert.deepEqual([exit, result], [2, 'not-known'], headline);
      assert.match(headline, / Not known: probe\.$/);
      assert.match(
        rowOf(shown, 'probe')?.what ?? '',
        /RBAC lacks verb "create" on resource "pods" of API group ""; or run/,
      );
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
    await names('probe', /minimum cpu usage per Container is 5m, but request is 2m/);
    await setProof({ resources: { requests: { cpu: '5m' } } });
    const { spec } = await eventually(() => tryPod<Pod>(cluster, 'shop', sized));
    assert.equal(spec.initContainers?.[0]?.resources?.requests?.cpu, '5m');
    await allIsWell();
  });

  test('the probe in namespaces with Pod Security restricted, with a quota, and without a profile that applies', async () => {
    const restricted = { [profileLabel]: 'cilium', 'pod-security.kubernetes.io/enforce': 'restricted' };
    await makeNamespace(cluster, 'restricted-ns', restricted);
    await makeNamespace(cluster, 'quota-ns', { [profileLabel]: 'cilium' });
    await makeNamespace(cluster, 'meshed-ns', { [profileLabel]: 'linkerd' });
    const hard = 'requests.cpu=1,limits.cpu=1,requests.memory=1Gi,limits.memory=1Gi';
    await kubectl(`-n quota-ns create quota all --hard=${hard}`);
    await api.until<{ status?: { hard?: object } }>(
      '/api/v1/namespaces/quota-ns/resourcequotas',
      ({ status }) => status?.hard,
    );
    const injected = 'a new pod comes back with cni-gate-validator (address, gateway, roundTrip)';
    const seen = (await report()).rows.filter(({ check }) => check === 'probe');
    assert.deepEqual(
      seen.map(({ object, result, what }) => [object, result, what]),
      [
        ['meshed-ns', 'passed', 'cni-gate answers; no profile applies to the pod of the probe'],
        ...['quota-ns', 'restricted-ns', 'shop'].map((name) => [name, 'passed', injected]),
      ],
    );
    await kubectl('delete namespace restricted-ns quota-ns meshed-ns');
  });

  test('status with ClusterRole cni-gate-status: everything but the certificate is known', async () => {
    const { kubeconfig } = await cluster.user('viewer');
    await kubectl('create clusterrolebinding viewer --clusterrole=cni-gate-status --user=viewer');
    await eventually(async () => {
      const { status, stdout } = cniGate(['status', '--kubeconfig', kubeconfig]);
      assert.equal(status, 0, stdout);
      assert.match(stdout, /^All \d+ checks passed\. Not known: certificate\.\n/);
    });
  });
});
