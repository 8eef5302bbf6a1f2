import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as read } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { usablePolicy } from '../../../webhook/status/collect/configuration.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import type { StatusFacts } from '../../../webhook/status/facts.ts';
import { statusText } from '../../../webhook/status/text.ts';
import { startCniGate } from '../../support/command.ts';
import { head } from '../../support/configurations.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';
import { allRegistered, client, wholeInstallation } from './objects.ts';

/** What is found of a ConfigMap with this text. */
async function found(t: TestContext, text: string) {
  const api = await startFakeApi(t, (_, response) => json(response, 200, { data: { 'config.yaml': text } }));
  return usablePolicy(api.client, 'cni-gate');
}

suite('the configuration of the installation', () => {
  test('is used if it is valid', async (t) => {
    const { source, policy, trouble } = await found(t, `${head}proof: { mode: warn }\n`);
    assert.deepEqual(
      [source, policy.proof.mode, trouble],
      ['config.yaml of ConfigMap cni-gate/cni-gate', 'warn', undefined],
    );
  });

  test('that is not valid gives the built-in profiles, and one line that says what is wrong', async (t) => {
    for (const [text, code] of [
      [`${head}proof: { mode: lenient }\ngate: { mode: no }\n`, 'CNI_GATE_CONFIG_INVALID'],
      ['a: b: c\n', 'CNI_GATE_CONFIG_SYNTAX'],
    ] as const) {
      const { source, policy, trouble } = await found(t, text);
      assert.equal(trouble?.code, code);
      assert.match(trouble.message, /^.*config\.yaml of ConfigMap cni-gate\/cni-gate.*$/);
      assert.match(source, /^the built-in profiles, as /);
      assert.ok(policy.profiles.has('cilium'));
    }
  });

  test('that may not be read is an error', async (t) => {
    const api = await startFakeApi(t, (_, response) =>
      json(response, 403, status(403, 'Forbidden', 'User "x" cannot get resource "configmaps"')),
    );
    await assert.rejects(usablePolicy(api.client, 'cni-gate'), { code: 'CNI_GATE_CLUSTER_FORBIDDEN' });
  });
});

test('the commands show a status all the same', async (t) => {
  const api = await startFakeApi(t, ({ path }, response) => {
    if (path === '/version') json(response, 200, { major: '1', minor: '36', gitVersion: 'v1.36.3' });
    else if (path.endsWith('/configmaps/cni-gate'))
      json(response, 200, { data: { 'config.yaml': 'a: b: c' } });
    else if (/\/(services|deployments|leases|configmaps|validating\w+)\/[^/]+$/.test(path))
      json(response, 404, status(404, 'NotFound', 'not found'));
    else json(response, 200, { metadata: { resourceVersion: '1' }, items: [] });
  });
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: api.url, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const shown = startCniGate(['status', '--kubeconfig', kubeconfig, '--output', 'json']);
  assert.ok(shown.stdout && shown.stderr);
  const [output, errors, [code]] = await Promise.all([
    read(shown.stdout),
    read(shown.stderr),
    once(shown, 'close'),
  ]);
  assert.deepEqual([code, errors], [3, '']);
  const { faults, configuration } = JSON.parse(output);
  assert.match(configuration, /^the built-in profiles, as /);
  assert.deepEqual(
    faults.map((fault: { code: string }) => fault.code),
    ['CNI_GATE_NOT_INSTALLED', 'CNI_GATE_CONFIG_SYNTAX'],
  );
  const page = join(folder, 'page.html');
  const written = startCniGate(['dashboard', '--kubeconfig', kubeconfig, '--out', page]);
  assert.deepEqual(await once(written, 'close'), [0, null]);
  assert.match(readFileSync(page, 'utf8'), /CNI_GATE_CONFIG_SYNTAX/);
});

suite('a status with a configuration that is not valid', () => {
  const trouble = { code: 'CNI_GATE_CONFIG_INVALID' as const, message: 'config.yaml: no mode lenient' };
  const factsOf = async (t: TestContext): Promise<StatusFacts> => ({
    policy: (await found(t, '')).policy,
    registered: allRegistered,
    installation: wholeInstallation,
    scheduler: { version: 'v1.36.3', goesByNominations: true },
    readiness: clusterWith({ n1: {} }),
    namespaces: [
      { name: 'shop', profile: 'cilium' },
      { name: 'own', profile: 'fabric' },
    ],
    pods: [],
  });
  const options = { client, configuration: 'the built-in profiles', now, all: false, namespace: undefined };

  test('names the fault first, and no label or DaemonSet that the configuration may explain', async (t) => {
    const facts = await factsOf(t);
    const shown = statusOf(facts, { ...options, trouble });
    assert.equal(shown.verdict, 'not-well');
    assert.deepEqual(shown.faults, [trouble]);
    const [first, ...rest] = statusText(shown, false).split('\n');
    assert.equal(first, 'Not all is well: config.yaml: no mode lenient (CNI_GATE_CONFIG_INVALID)');
    assert.match(rest.join('\n'), /Opted in: .*shop \(cilium\)/);
    const codes = statusOf(facts, options).faults.map(({ code }) => code);
    assert.deepEqual(codes, ['CNI_GATE_PROFILE_UNKNOWN', 'CNI_GATE_DAEMONSET_UNKNOWN']);
  });

  test('comes after "not installed", which is the cause of more', async (t) => {
    const facts = await factsOf(t);
    const absent: StatusFacts = {
      ...facts,
      registered: { mutating: [], validating: [] },
      installation: {
        ...wholeInstallation,
        deployment: 'absent',
        services: [],
        policies: [],
      },
    };
    const shown = statusOf(absent, { ...options, trouble });
    assert.deepEqual(
      [shown.verdict, shown.faults.map(({ code }) => code)],
      ['not-installed', ['CNI_GATE_NOT_INSTALLED', trouble.code]],
    );
  });
});
