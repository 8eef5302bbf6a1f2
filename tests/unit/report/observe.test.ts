import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { parse, parseAllDocuments } from 'yaml';
import { version as clientVersion } from '../../../webhook/lib/version.ts';
import { servingSecret, versionIn } from '../../../webhook/report/observe/installation.ts';
import {
  type CheckFacts,
  observeBefore,
  observeInstallation,
} from '../../../webhook/report/observe/observe.ts';
import {
  installRights,
  type Right,
  rightText,
  serverRights,
} from '../../../webhook/report/observe/rights.ts';
import { policyOf } from '../../support/configurations.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { findingsOf } from './objects.ts';

/* These tests show how `check` reads a cluster that refuses requests or fails. */

const options = { ownNamespace: 'cni-gate', given: undefined, probe: false };
const version = { major: '1', minor: '36+', gitVersion: 'v1.36.3-eks-1' };
const forbid = ({ path }: Asked): object =>
  status(
    403,
    'Forbidden',
    `things is forbidden: User "x" cannot list resource "things" in API group "" at ${path}`,
  );

/** An API server that answers some paths and refuses the others as RBAC does. */
const start = (t: TestContext, answers: Record<string, object>) =>
  startFakeApi(t, (asked, response) => {
    const answer = answers[asked.path];
    json(response, answer === undefined ? 403 : 200, answer ?? forbid(asked));
  });

test('without any right except that to the version, every check that needs a right names it', async (t) => {
  const { client } = await start(t, { '/version': version });
  const findings = findingsOf(await observeInstallation(client, options), Date.now());
  assert.equal(findings['kubernetes-version']?.what, 'v1.36.3-eks-1');
  // these checks need no right, or report a missing right in other words
  const without = /^(?:kubernetes-version|installed|daemonsets|namespace-labels|opt-out|resources|probe)$/;
  const others = Object.entries(findings).filter(([id]) => !without.test(id));
  for (const [id, { result, what }] of others) {
    assert.equal(result, 'not-known', `${id}: ${what}`);
    const right =
      /: RBAC lacks verb "(?:get|list)" on (?:resource "[a-z]+" of API group "[a-z0-9.]*"|nonResourceURL "\/apis\/\S+")$/;
    assert.match(what, right, id);
  }
  assert.ok(others.length > 9);
});

/** The answers about an installation in the namespace `net`, whose certificate is in the Secret `own`. */
function answersOf(): Record<string, object> {
  const webhooks = [
    { name: 'a', clientConfig: { service: { namespace: 'net', name: 'gate' }, caBundle: 'eA==' } },
  ];
  const containers = [{ name: 'cni-gate', image: 'cni-gate:0.0.9', args: ['--tls-secret=own'] }];
  const spec = { template: { spec: { serviceAccountName: 'gate', containers } } };
  const metadata = { uid: 'u', name: 'cni-gate', resourceVersion: '1' };
  const items = [{ metadata, webhooks, failurePolicy: 'Fail' }];
  const config = 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\n';
  const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  return {
    '/version': version,
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations': { metadata, items },
    '/apis/apps/v1/namespaces/net/deployments/cni-gate': { metadata, spec },
    '/api/v1/namespaces/net/secrets/own': { metadata, data: { 'tls.crt': 'eA==' } },
    '/api/v1/namespaces/net/configmaps/cni-gate': { metadata, data: { 'config.yaml': config } },
    [reviews]: { status: { allowed: false } },
  };
}

test('an installation is read in the namespace that its webhooks call, with the rights of its account', async (t) => {
  const { url, client } = await start(t, answersOf());
  const { configuration, installation, cluster, serverRights }: CheckFacts = await observeInstallation(
    client,
    options,
  );
  assert.equal(configuration.source, 'config.yaml of ConfigMap net/cni-gate');
  const { namespace, certificate } = installation;
  assert.equal(namespace, 'net');
  assert.match(JSON.stringify(certificate), /"secret":"net\/own","webhooks":\[\{"name":"a","fault":/);
  const { asked, missing = [] } = serverRights.found ?? {};
  assert.equal(asked, missing.length);
  assert.ok(missing.includes('update secrets own in namespace net'));
  const { context: _, ...identity } = cluster;
  assert.deepEqual(identity, { server: url, clientVersion, serverVersion: '0.0.9' });
});

test('a certificate that is not shown, or may not be read', async (t) => {
  const { '/api/v1/namespaces/net/secrets/own': secret, ...others } = answersOf();
  const certificateOf = async (more: Record<string, object>): Promise<object> => {
    const { client } = await start(t, { ...others, ...more });
    return (await observeInstallation(client, options)).installation.certificate;
  };
  const other = { '/api/v1/namespaces/net/secrets/own': { ...secret, data: {} } };
  assert.partialDeepStrictEqual(await certificateOf(other), {
    found: { notShown: 'Certificate: Secret net/own with key tls.crt does not exist' },
  });
  assert.partialDeepStrictEqual(await certificateOf({}), {
    unknown: { why: 'Certificate: Secret net/own may not be read' },
  });
});

test('before an installation, DaemonSets are read by their names, and the rights of the caller', async (t) => {
  const { client } = await startFakeApi(t, ({ path, query }, response) => {
    if (path === '/version') return json(response, 200, version);
    if (path.endsWith('/selfsubjectaccessreviews')) return json(response, 201, { status: { allowed: true } });
    const isIt = path.includes('/kube-flannel/') && query.fieldSelector === 'metadata.name=kube-flannel-ds';
    const metadata = { namespace: 'kube-flannel', name: 'kube-flannel-ds', uid: 'u', resourceVersion: '1' };
    const items = isIt ? [{ metadata, spec: { template: { spec: {} } } }] : [];
    return json(response, 200, { metadata: { resourceVersion: '1' }, items });
  });
  const { daemonSets, rights } = await observeBefore(client, { ownNamespace: 'cni-gate', given: undefined });
  assert.deepEqual(
    daemonSets.found?.map(({ name }) => name),
    ['kube-flannel-ds'],
  );
  assert.deepEqual(rights, { asked: 2 * 15, missing: [] });
});

test('LimitRanges and ResourceQuotas are read with what they require of containers', async (t) => {
  const list = (name: string, spec: object): object => ({
    metadata: { resourceVersion: '1' },
    items: [{ metadata: { uid: name, namespace: 'shop', name, resourceVersion: '1' }, spec }],
  });
  const min = { cpu: '50m' };
  const { client } = await start(t, {
    '/version': version,
    '/api/v1/limitranges': list('small', { limits: [{ type: 'Container', min }] }),
    '/api/v1/resourcequotas': list('all', { hard: { pods: '9' } }),
  });
  const { limits } = await observeInstallation(client, options);
  assert.deepEqual(
    limits.found?.map(({ kind, metadata, spec }) => [kind, metadata.name, spec]),
    [
      ['LimitRange', 'small', { limits: [{ type: 'Container', min }] }],
      ['ResourceQuota', 'all', { hard: { pods: '9' } }],
    ],
  );
});

test('an API server that fails in between is an error, and no finding', async (t) => {
  const { client } = await startFakeApi(t, ({ path }, response) => {
    if (path === '/version') json(response, 200, version);
    else json(response, 500, status(500, 'InternalError', 'etcdserver: request timed out'));
  });
  await assert.rejects(observeInstallation(client, options), { code: 'CNI_GATE_CLUSTER_BUSY' });
});

test("the age of the Lease is measured by the API server's clock, not by that of holder or reader", async (t) => {
  const minute = 60_000;
  // the clock of the API server is ten minutes behind the clock of the reader
  const there = (): number => Date.now() - 10 * minute;
  for (const holdersClock of [-5 * minute, 5 * minute])
    for (const [ago, result] of [
      [2000, 'passed'],
      [2 * minute, 'failed'],
    ] as const) {
      const time = (after = 0): string => new Date(there() - ago + after).toISOString();
      const spec = { holderIdentity: 'x', leaseDurationSeconds: 15, renewTime: time(holdersClock) };
      const managedFields = [
        { time: time(), fieldsV1: { 'f:spec': { 'f:renewTime': {} } } },
        { time: time(ago), fieldsV1: { 'f:metadata': { 'f:labels': {} } } },
      ];
      const { client } = await startFakeApi(t, (asked, response) => {
        const date = { date: new Date(there()).toUTCString() };
        if (asked.path === '/version') json(response, 200, version, date);
        else if (asked.path.endsWith('/leases/cni-gate-leader'))
          json(response, 200, { metadata: { managedFields }, spec }, date);
        else json(response, 403, forbid(asked), date);
      });
      const findings = findingsOf(await observeInstallation(client, options), Date.now());
      assert.equal(findings.leader?.result, result);
    }
});

const texts = (rights: Right[]): string[] => [...new Set(rights.map(rightText))].toSorted();

test("in its own namespace, the service account needs the manifests' rights for the features that are on", () => {
  const allOn = texts(serverRights('net', policyOf({ repair: { mode: 'recreate' } }), 'own'));
  // with certificates from elsewhere
  const allOff = texts(
    serverRights('net', policyOf({ repair: { mode: 'off' }, steer: { mode: 'off' } }), undefined),
  );
  const always = ['list nodes', 'update leases.coordination.k8s.io cni-gate-leader in namespace net'];
  const sometimes = [
    'patch pods/status',
    'delete pods',
    'patch mutatingwebhookconfigurations.admissionregistration.k8s.io cni-gate',
    'update secrets own in namespace net',
    'create secrets in namespace net',
  ];
  const absent = (rights: string[]): string[] =>
    [...always, ...sometimes].filter((right) => !rights.includes(right));
  assert.deepEqual([absent(allOn), absent(allOff)], [[], sometimes]);
  assert.ok(allOff.every((right) => !/webhookconfigurations|secrets/.test(right)));
});

test('the rights for an installation name every kind in the manifests', () => {
  const needed = texts(installRights());
  assert.ok(needed.includes('patch validatingadmissionpolicies.admissionregistration.k8s.io'));
  assert.equal(needed.length, 2 * 15);
});

const manifests = fileURLToPath(new URL('../../../manifests/', import.meta.url));
const ofManifest = (path: string): V1Deployment => parse(readFileSync(`${manifests}${path}`, 'utf8'));
const ofPods = (spec: object): V1Deployment => ({
  spec: { selector: {}, template: { spec: { containers: [], ...spec } } },
});

test('the Secret of the serving certificate: of --tls-secret, or behind the file of --tls-cert', () => {
  const withArgs = (...args: string[]): V1Deployment => ofPods({ containers: [{ name: 'cni-gate', args }] });
  const cases: [V1Deployment, object | undefined][] = [
    [ofManifest('base/deployment.yaml'), { name: 'cni-gate-tls', key: 'tls.crt', isAuthority: true }],
    [
      ofManifest('components/files/deployment.yaml'),
      { name: 'cni-gate-serving', key: 'tls.crt', isAuthority: false },
    ],
    [withArgs('--tls-secret', 'own'), { name: 'own', key: 'tls.crt', isAuthority: true }],
    [withArgs('serve'), undefined],
  ];
  for (const [object, secret] of cases) assert.deepEqual(servingSecret(object), secret);
});

test('the version is the tag of the image of our container', () => {
  for (const [image, version] of [
    ['registry.example.com:5000/cni-gate:0.0.9', '0.0.9'],
    [`registry.example.com:5000/cni-gate:0.0.9@sha256:${'a'.repeat(64)}`, '0.0.9'],
    [`registry.example.com:5000/cni-gate@sha256:${'a'.repeat(64)}`, undefined],
  ]) {
    const containers = [
      { name: 'proxy', image: 'proxy:1' },
      { name: 'cni-gate', image },
    ];
    assert.equal(versionIn(ofPods({ containers })), version);
  }
});

test('overlays and components change nothing that is compared, except that they remove conditions', () => {
  const paths = globSync('{overlays,components,compose}/**/*.yaml', { cwd: manifests });
  const documents = paths.flatMap((file) =>
    parseAllDocuments(readFileSync(`${manifests}${file}`, 'utf8')).map((document) => document.toJS() ?? {}),
  );
  const isOurs = (kind: string | undefined): boolean => kind?.endsWith('WebhookConfiguration') === true;
  const configurations = documents.filter(({ kind }) => isOurs(kind));
  assert.ok(configurations.length >= 3, 'the patches were not found');
  const fields = configurations.flatMap(({ webhooks }) => (webhooks ?? []).flatMap(Object.keys));
  assert.deepEqual(
    fields.filter((field) => !['name', 'failurePolicy'].includes(field)),
    [],
  );
  const inline = documents
    .flatMap(({ patches }) => patches ?? [])
    // the component proof-only deletes objects of many kinds
    .filter(({ target, patch }) => isOurs(target?.kind) && !patch?.includes('$patch: delete'));
  const operations = inline.flatMap(({ patch }) => (patch === undefined ? [] : parse(patch)));
  assert.ok(operations.length > 0, 'the component no-opt-out was not found');
  for (const { op, path } of operations)
    assert.ok(op === 'test' || (op === 'remove' && /\/matchConditions\/\d+$/.test(path)), `${op} ${path}`);
});
