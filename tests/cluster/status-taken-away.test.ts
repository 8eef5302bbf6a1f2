import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventually } from './harness/eventually.ts';
import { overlayPath } from './installed/overlay.ts';
import { codes, installWithStatus } from './installed/status.ts';

/* The overlay strict as it is installed, and what `status` says when a part of it is taken away. */

const { cluster, kubectl, command, probed, status, allIsWell, startReplicas, endAll } =
  await installWithStatus();
const { api } = cluster;

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

/** Applies the overlay again, as a user does after something was taken away. */
const applyAgain = (): Promise<string> => kubectl(`apply -k ${overlayPath('strict')}`);

await allIsWell();

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

  test('what a webhook is called for: a selector that matches no pod, and operations that create no pod', async () => {
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
    assert.equal(status().features[0]?.inForce, false);
    // apply keeps what it did not write, as the advice says
    await applyAgain();
    await until('CNI_GATE_NOT_REGISTERED');
    await patch('mutating', 'remove', '/webhooks/0/objectSelector');
    await allIsWell();
    await patch('validating', 'replace', '/webhooks/0/rules/0/operations', ['DELETE']);
    assert.match(await until('CNI_GATE_NOT_REGISTERED'), /: rules of bindings\.cni-gate\.io\. Apply /);
    assert.deepEqual(
      status().features.map(({ inForce }) => inForce),
      [true, false, false, true],
    );
    await applyAgain();
    await allIsWell();
  });

  test('the trust: a foreign caBundle, which the replicas may not replace', async () => {
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
      status().features.map(({ feature, inForce }) => [feature, inForce]),
      [
        ['prove', false],
        ['gate', true],
        ['steer', true],
        ['repair', true],
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

  test('the rules of a policy, and that it denies', async () => {
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
    await patch(policy, {
      op: 'add',
      path: '/spec/paramKind',
      value: { apiVersion: 'v1', kind: 'ConfigMap' },
    });
    assert.match(firstLine(), /it has a paramKind, .*kubernetes#130887.*, so every pod .* may be refused/);
    await patch(policy, { op: 'remove', path: '/spec/paramKind' });
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

  test('the processes, while their pods still read Ready: there is no leader, and the probe gets no answer', async () => {
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
