import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, suite, test } from 'node:test';
import { createAuthority } from '../../certs/issue.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { version } from '../../webhook/lib/version.ts';
import type { Check, CheckReport } from '../../webhook/report/checks/model.ts';
import { type Ended, startCniGate } from '../support/command.ts';
import { schemaFaults } from '../support/schemas.ts';
import type { Access } from './harness/access.ts';
import { accessWith } from './harness/access.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { install } from './installed/installation.ts';
import { overlayPath, pod, policyName } from './installed/overlay.ts';
import type { RunningPod } from './installed/pod.ts';
import { bringNetwork } from './installed/status.ts';
import { makeNamespace } from './installed/working.ts';

/* `cni-gate check` on a bare control plane, on a good installation, and on ten that are broken in one way each. */

const cluster = await Cluster.start({ own: true });
after(() => cluster.stop());
const { api } = cluster;
const kubectl = (text: string): Promise<string> => cluster.kubectl(text.split(' '));
const faultsOf = schemaFaults('check');

interface Reported extends CheckReport {
  exit: number | null;
}

/** Not as `cniGate` does it, which would stop the API server of {@link withVersion}. */
async function command(
  args: string[],
  { kubeconfig }: Pick<Access, 'kubeconfig'> = cluster.admin,
): Promise<Ended> {
  const child = startCniGate(['check', '--kubeconfig', kubeconfig, ...args]);
  assert.ok(child.stdout && child.stderr);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { status, stdout, stderr };
}

async function report(args: string[] = [], access?: Pick<Access, 'kubeconfig'>): Promise<Reported> {
  const { status: exit, stdout, stderr } = await command(['-o', 'json', ...args], access);
  assert.equal(stderr, '');
  const reported: CheckReport = JSON.parse(stdout);
  assert.deepEqual(faultsOf(reported), []);
  return { ...reported, exit };
}

const resultOf = ({ checks }: CheckReport, id: Check['id']): string | undefined =>
  checks.find((check) => check.id === id)?.result;

/** What the check of a new pod found. */
async function probeOf(args: string[] = [], access?: Pick<Access, 'kubeconfig'>): Promise<Check> {
  const { checks, headline } = await report(args, access);
  const probe = checks.find(({ id }) => id === 'probe');
  assert.ok(probe, headline);
  return probe;
}

/** Waits until the first check that fails is that one, and the first line of the text names it. */
async function names(id: Check['id'], what: RegExp, access?: Pick<Access, 'kubeconfig'>): Promise<void> {
  await eventually(async () => {
    const { exit, headline, checks } = await report([], access);
    const first = checks.find(({ result }) => result === 'failed');
    assert.deepEqual([exit, first?.id], [1, id], headline);
    assert.match(first?.what ?? '', what);
    assert.match(headline, new RegExp(`^\\d+ of \\d+ checks failed\\. ${id}: `));
  });
  const { stdout } = await command([], access);
  assert.match(stdout.split('\n')[0] ?? '', new RegExp(`checks failed\\. ${id}: .*\\(CNI_GATE_[A-Z_]+\\)$`));
  assert.match(
    stdout,
    new RegExp(`^✗ ${id} .*\\n(?: .*\\n)*    https://\\S*/reference/checks\\.md#${id}\\n`, 'm'),
  );
}

const allIsWell = (): Promise<void> =>
  eventually(async () => {
    const { exit, headline } = await report();
    assert.deepEqual([exit, /^All \d+ checks passed\.$/.test(headline)], [0, true], headline);
  });

/** Applies the overlay again, as a user does after something was taken away. */
const applyAgain = (): Promise<string> => kubectl(`apply -k ${overlayPath('strict')}`);

const patchJson = (object: string, ...operations: object[]): Promise<string> =>
  cluster.kubectl(['patch', ...object.split(' '), '--type=json', '-p', JSON.stringify(operations)]);

let replicas: RunningPod[] = [];
const endAll = (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.end('SIGKILL')));
after(endAll);

test('a bare cluster: nothing fails with --pre, and without it cni-gate is not installed', async () => {
  const pre = await report(['--pre']);
  assert.deepEqual([pre.exit, pre.verdict, pre.counts.failed, pre.counts['not-known']], [0, 'passed', 0, 0]);
  assert.equal(resultOf(pre, 'install-rights'), 'passed');
  assert.equal(resultOf(pre, 'priority-class'), 'passed');
  assert.equal(resultOf(pre, 'not-installed-yet'), 'passed');
  // there is neither a node nor a network
  assert.deepEqual([resultOf(pre, 'nodes'), resultOf(pre, 'networks')], ['warning', 'warning']);
  assert.deepEqual(pre.proposals, []);
  const { exit, headline } = await report();
  assert.equal(exit, 3);
  assert.match(headline, /installed: cni-gate is not installed: .*\(CNI_GATE_NOT_INSTALLED\)$/);
});

test('--pre as somebody without rights says which one is missing, and goes on', async () => {
  const nobody = await cluster.user('nobody');
  const pre = await report(['--pre'], nobody);
  assert.equal(pre.exit, 1);
  assert.match(pre.headline, /install-rights: you may not create .* \(CNI_GATE_RIGHTS\)$/);
  assert.equal(resultOf(pre, 'kubernetes-version'), 'passed');
  const nodes = pre.checks.find(({ id }) => id === 'nodes');
  assert.deepEqual(
    [nodes?.result, nodes?.what],
    ['not-known', 'nodes may not be read: RBAC lacks verb "list" on resource "nodes" of API group ""'],
  );
});

test('--pre with a network proposes its profile, and the command labels the namespace', async () => {
  await bringNetwork(cluster);
  await makeNamespace(cluster, 'shop');
  await makeNamespace(cluster, 'empty');
  await api.post('/api/v1/namespaces/shop/pods', pod('uses-the-network'));
  const { proposals, networks } = await report(['--pre']);
  assert.deepEqual(
    networks.map(({ profile, complete }) => [profile, complete]),
    [['cilium', true]],
  );
  const { profile, command: label } = proposals.find(({ namespace }) => namespace === 'shop') ?? {};
  assert.equal(profile, 'cilium');
  assert.equal(proposals.length, 1);
  await kubectl(label?.replace(/^kubectl /, '') ?? '');
  const { metadata } = await api.get<{ metadata: { labels: Record<string, string> } }>(
    '/api/v1/namespaces/shop',
  );
  assert.equal(metadata.labels[profileLabel], 'cilium');
});

suite('installed', () => {
  test('a good installation: every check passes, the probe as well', async () => {
    ({ replicas } = await install(cluster, 'strict'));
    await allIsWell();
    const { exit, checks, cluster: which } = await report();
    assert.equal(exit, 0);
    assert.deepEqual(
      checks.filter(({ result }) => result !== 'passed').map(({ id, what }) => `${id}: ${what}`),
      [],
    );
    assert.deepEqual([which.server, which.serverVersion], [cluster.server.url, version]);
    assert.equal(which.clientVersion, version);
    const { stdout } = await command(['-o', 'short']);
    assert.match(
      stdout,
      /^All \d+ checks passed\.\nCluster: https:\S+ \(context \S+\)\. cni-gate: client .*\n$/,
    );
    assert.equal(resultOf(await report(['--pre']), 'not-installed-yet'), 'warning');
  });

  test('somebody without rights: no verdict, and each check says which right is missing', async () => {
    const { exit, verdict, checks } = await report([], await cluster.user('somebody'));
    assert.deepEqual([exit, verdict], [2, 'not-known']);
    const dark = checks.filter(({ result }) => result === 'not-known');
    assert.ok(dark.length > 8);
    assert.ok(dark.some(({ what }) => what.includes('RBAC lacks verb "get" on resource "services"')));
  });

  test('no endpoints; --wait goes on until they are there again', async () => {
    const select = (name: string): Promise<string> =>
      patchJson('service cni-gate -n cni-gate', {
        op: 'replace',
        path: '/spec/selector',
        value: { 'app.kubernetes.io/name': name },
      });
    await select('somebody-else');
    await names('service', /^Service cni-gate\/cni-gate: it has no endpoint, so every new pod/);
    const child = startCniGate([
      'check',
      '--kubeconfig',
      cluster.admin.kubeconfig,
      '--wait',
      '5m',
      '-o',
      'short',
    ]);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    assert.ok(child.stderr);
    const [chunk] = await once(child.stderr, 'data');
    assert.match(String(chunk), /^cni-gate: waiting: \d+ of \d+ checks failed\. service: /);
    // what comes later is read as well: a full pipe would stop the command
    child.stderr.resume();
    child.stdout?.resume();
    await select('cni-gate');
    assert.equal(await ended, 0);
  });

  test('a targetPort on which no replica listens: the Service is at fault, and no pod is admitted', async () => {
    const target = (targetPort: number | string): Promise<string> =>
      patchJson('service cni-gate -n cni-gate', {
        op: 'replace',
        path: '/spec/ports/0/targetPort',
        value: targetPort,
      });
    await target(9999);
    await names(
      'service',
      /^Service cni-gate\/cni-gate: its endpoints have port 9999, and the replicas listen on 8443, so every new pod/,
    );
    // it keeps connections, which go to the port of before
    const { 'kube-apiserver': apiServer } = cluster.components;
    await apiServer.kill();
    await apiServer.start();
    await eventually(async () => {
      const { what, hint } = await probeOf();
      assert.match(what, /failed calling webhook "pods\.cni-gate\.io": .*connection refused/);
      assert.match(hint, /compare targetPort of the Service with the port of the replicas/);
    });
    await target('https');
    await allIsWell();
  });

  test('an account that may read everything and create no pod: no verdict, and the right that is missing', async () => {
    const reader = await cluster.user('reader');
    await kubectl('create clusterrole check-reader --verb=get,list --resource=*.*');
    await kubectl(
      'create clusterrole check-asker --verb=create --resource=subjectaccessreviews.authorization.k8s.io',
    );
    for (const role of ['check-reader', 'check-asker'])
      await kubectl(`create clusterrolebinding ${role} --clusterrole=${role} --user=reader`);
    await eventually(async () => {
      const { exit, verdict, headline } = await report([], reader);
      assert.deepEqual([exit, verdict], [2, 'not-known'], headline);
      assert.match(headline, / Not known: probe\.$/);
    });
    assert.match(
      (await probeOf([], reader)).what,
      /RBAC lacks verb "create" on resource "pods" of API group ""; or run/,
    );
    assert.equal((await report(['--no-probe'], reader)).exit, 0);
  });

  test('a missing policy binding', async () => {
    await kubectl('delete validatingadmissionpolicybinding pods.cni-gate.io');
    await names('policy-pods', /^Policy pods\.cni-gate\.io: its binding does not exist/);
    await applyAgain();
  });

  test('a missing right of the service account', async () => {
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/cni-gate';
    const { rules } = await api.get<{ rules: { resources: string[] }[] }>(role);
    await api.patch(role, { rules: rules.filter(({ resources }) => !resources.includes('nodes')) });
    await names('server-rights', /^service account cni-gate\/cni-gate may not list nodes, watch nodes$/);
    await api.patch(role, { rules });
  });

  test('a wrong label', async () => {
    await kubectl(`label --overwrite namespace shop ${profileLabel}=cillium`);
    await names(
      'namespace-labels',
      /^namespace shop: profile "cillium" does not exist: did you mean cilium\?/,
    );
    await kubectl(`label --overwrite namespace shop ${profileLabel}=cilium`);
  });

  test('a missing DaemonSet', async () => {
    await kubectl('-n kube-system delete daemonset cilium');
    await names('daemonsets', /^DaemonSet kube-system\/cilium of profile cilium does not exist/);
    await bringNetwork(cluster);
  });

  test('the clock of a node that is ten minutes ahead', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const renewTime = new Date(Date.now() + 600_000).toISOString().replace('Z', '000Z');
    await api.post(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'n9' },
      spec: { holderIdentity: 'n9', leaseDurationSeconds: 40, renewTime },
    });
    await names('cluster-clocks', /^the clock of node n9 is \d{3} s ahead of the API server's$/);
    await kubectl('-n kube-node-lease delete lease n9');
  });

  test('an old Kubernetes', async (t) => {
    // all that was broken before is mended
    await allIsWell();
    const old = await withVersion(t, { major: '1', minor: '29', gitVersion: 'v1.29.9' });
    await names(
      'kubernetes-version',
      /^the API server is v1\.29\.9, and cni-gate needs 1\.30 or later$/,
      old,
    );
    const { exit, headline } = await report(['--pre'], old);
    assert.equal(exit, 1);
    assert.match(headline, /^1 of \d+ checks failed\. kubernetes-version: .*\(CNI_GATE_KUBERNETES\)$/);
  });

  test('a policy of an older release, whose parameters the API server lost: the hint ends it', async () => {
    const params = { name: 'cni-gate-policy', namespace: 'cni-gate' };
    const bind = (): Promise<string> =>
      cluster.kubectl(['apply', '-f', '-'], {
        input: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: params },
          {
            apiVersion: 'admissionregistration.k8s.io/v1',
            kind: 'ValidatingAdmissionPolicyBinding',
            metadata: { name: policyName },
            spec: {
              policyName,
              validationActions: ['Deny'],
              paramRef: { ...params, parameterNotFoundAction: 'Deny' },
            },
          },
        ],
      });
    const admitted = (): Promise<void> =>
      eventually(async () => assert.equal((await probeOf()).result, 'passed'));
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: policyName },
      spec: {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: {
          namespaceSelector: { matchExpressions: [{ key: profileLabel, operator: 'Exists' }] },
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] },
          ],
        },
        validations: [{ expression: 'true' }],
      },
    };
    await cluster.kubectl(['apply', '-f', '-'], { input: [policy] });
    await bind();
    await admitted();
    // what the API server saw last stays: without the ConfigMap, every pod is refused from then on
    await kubectl('-n cni-gate delete configmap cni-gate-policy');
    await eventually(async () => assert.match((await probeOf()).what, /no params found for policy binding/));
    await kubectl(`delete validatingadmissionpolicybinding ${policyName}`);
    await admitted();
    await bind();
    let hint = '';
    await eventually(async () => {
      const probe = await probeOf();
      assert.equal(probe.result, 'failed');
      assert.match(probe.what, /no params found for policy binding/);
      ({ hint } = probe);
    });
    assert.match(hint, /kubernetes#130887/);
    const [, way = ''] = /"kubectl (delete validatingadmissionpolicybinding \S+)"/.exec(hint) ?? [];
    await kubectl(way);
    await admitted();
    await applyAgain();
    await allIsWell();
  });

  // the replicas would mend what follows; their pods stay Ready, as nothing looks after them here
  test("a stranger's caBundle, with no replica to correct it", async () => {
    await endAll();
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate';
    const { webhooks } = await api.get<{ webhooks: { clientConfig: { caBundle: string } }[] }>(path);
    const trust = (value: string | undefined): Promise<string> =>
      patchJson('mutatingwebhookconfiguration cni-gate', {
        op: 'replace',
        path: '/webhooks/0/clientConfig/caBundle',
        value,
      });
    await trust(Buffer.from(cluster.authority.pair.certificate).toString('base64'));
    await names('certificate', /for pods\.cni-gate\.io: it is signed by no authority of the caBundle$/);
    await trust(webhooks[0]?.clientConfig.caBundle);
  });

  test('an expired certificate', async () => {
    const secret = '/api/v1/namespaces/cni-gate/secrets/cni-gate-tls';
    const { data } = await api.get<{ data: Record<string, string> }>(secret);
    const tenDaysAgo = new Date(Date.now() - 10 * 24 * 3_600_000);
    const { certificate } = createAuthority({ commonName: 'cni-gate', days: 1, now: tenDaysAgo });
    await api.patch(secret, { data: { 'tls.crt': Buffer.from(certificate).toString('base64') } });
    await names('certificate', /the certificate is in force from \S+ to \S+ only$/);
    await api.patch(secret, { data });
  });

  test('no leader: the Lease is long past', async () => {
    const renewTime = new Date(Date.now() - 600_000).toISOString().replace('Z', '000Z');
    await api.patch('/apis/coordination.k8s.io/v1/namespaces/cni-gate/leases/cni-gate-leader', {
      spec: { renewTime },
    });
    await names('leader', /^Lease cni-gate\/cni-gate-leader: \S+ holds it and has not renewed it since 20/);
  });
});

/** A way to the cluster on which the API server says that it has another version: no older one is built here. */
async function withVersion(
  t: { after(end: () => void): void },
  version: object,
): Promise<Pick<Access, 'kubeconfig'>> {
  const { url, authority } = cluster.server;
  const { credentials } = cluster.admin;
  assert.ok('certificate' in credentials);
  const agent = new Agent({ ca: authority, cert: credentials.certificate, key: credentials.key });
  const { certificate: cert, key } = await cluster.authority.serving(['127.0.0.1']);
  const server = createServer({ cert, key }, (asked: IncomingMessage, answer: ServerResponse) => {
    if (asked.url === '/version') {
      answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(version));
      return;
    }
    const { authorization: _, ...headers } = asked.headers;
    const options = { agent, method: asked.method, headers: { ...headers, host: new URL(url).host } };
    const passed = request(new URL(asked.url ?? '/', url), options, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    agent.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return accessWith({ url: `https://127.0.0.1:${port}`, authority }, `${cluster.folder}/old.kubeconfig`, {
    token: 'not asked for',
  });
}
