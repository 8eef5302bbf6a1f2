import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { V1Deployment } from '@kubernetes/client-node';
import { parse, parseAllDocuments } from 'yaml';
import { version as clientVersion } from '../../../webhook/lib/version.ts';
import { rowsOf } from '../../../webhook/report/judge/catalogue.ts';
import { servingSecret, versionIn } from '../../../webhook/report/observe/installation.ts';
import { observe } from '../../../webhook/report/observe/observe.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';

/* How commands read a cluster, even if its API server refuses requests or fails. */

const options = { ownNamespace: 'cni-gate', probe: true };
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

test('without any right except that to the version, every other check names the missing right', async (t) => {
  const { client } = await start(t, { '/version': version });
  const rows = rowsOf(await observe(client, options), 'status');
  // all checks but these two name the missing right
  const others = rows.filter(({ check }) => check !== 'kubernetes-version' && check !== 'daemonsets');
  assert.deepEqual(
    rows.flatMap(({ check, result }) => (result === 'not-known' ? [] : check)),
    ['kubernetes-version'],
  );
  for (const { check, what } of others)
    assert.match(what, /: RBAC lacks verb "list" on resource "things"/, check);
  assert.ok(others.length > 15);
});

test('an API server that does not find lists: nothing that depends on them passes', async (t) => {
  const { client } = await startFakeApi(t, ({ path }, response) =>
    path === '/version'
      ? json(response, 200, version)
      : json(response, 404, status(404, 'NotFound', 'not found')),
  );
  const facts = await observe(client, options);
  for (const list of [
    facts.namespaces,
    facts.daemonSets,
    facts.pods,
    facts.readiness,
    facts.installation.slices,
  ])
    assert.match(list.unknown ?? '', /may not be read: the API server does not find the list/);
});

test('an installation is read in the namespace that its webhooks call', async (t) => {
  const metadata = { uid: 'u', name: 'cni-gate', resourceVersion: '1' };
  const webhooks = [
    { name: 'a', clientConfig: { service: { namespace: 'net', name: 'gate' }, caBundle: 'eA==' } },
  ];
  const containers = [{ name: 'cni-gate', image: 'cni-gate:0.0.9', args: ['--tls-secret=own'] }];
  const config = 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\n';
  const labels = { 'cni-gate.io/profile': 'cilium' };
  const net = { metadata: { ...metadata, name: 'net', labels } };
  const { url, client } = await start(t, {
    '/version': version,
    '/api/v1/namespaces': { metadata, items: [net] },
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate': { metadata, webhooks },
    '/apis/apps/v1/namespaces/net/deployments/cni-gate': {
      metadata,
      spec: { template: { spec: { containers } } },
    },
    '/api/v1/namespaces/net/secrets/own': { metadata, data: { 'tls.crt': 'eA==' } },
    '/api/v1/namespaces/net/configmaps/cni-gate': { metadata, data: { 'config.yaml': config } },
  });
  const { configuration, installation, cluster, ...facts } = await observe(client, options);
  assert.equal(configuration.source, 'config.yaml of ConfigMap net/cni-gate');
  assert.deepEqual([installation.namespace, installation.secret.found?.data], ['net', { 'tls.crt': 'eA==' }]);
  assert.deepEqual(facts.namespaces.found, [{ name: 'net', profile: 'cilium', labels }]);
  // pods of the namespace of cni-gate are exempt
  assert.deepEqual(facts.probe, []);
  const { context: _, ...identity } = cluster;
  assert.deepEqual(identity, { server: url, clientVersion, serverVersion: '0.0.9' });
});

test('DaemonSets are read by their names, however large they are', async (t) => {
  const { client } = await startFakeApi(t, ({ path, query }, response) => {
    if (path === '/version') return json(response, 200, version);
    const isIt = path.includes('/kube-flannel/') && query.fieldSelector === 'metadata.name=kube-flannel-ds';
    const annotations = { note: 'x'.repeat(1_500_000) };
    const metadata = {
      ...{ namespace: 'kube-flannel', name: 'kube-flannel-ds', uid: 'u', resourceVersion: '1' },
      annotations,
    };
    const items = isIt ? [{ metadata, spec: { template: { spec: {} } } }] : [];
    return json(response, 200, { metadata: { resourceVersion: '1' }, items });
  });
  const { daemonSets } = await observe(client, options);
  assert.deepEqual(
    daemonSets.found?.map(({ facts }) => facts.name),
    ['kube-flannel-ds'],
  );
});

test('nodes that may not be read are not known, and without a server the probe creates no pod that needs it', async (t) => {
  const labels = { 'cni-gate.io/profile': 'cilium' };
  const shop = { metadata: { name: 'shop', uid: 'u', resourceVersion: '1', labels } };
  const { client, asked } = await startFakeApi(t, (request, response) => {
    const { method, path, query } = request;
    if (path === '/version') return json(response, 200, version);
    if (path.endsWith('/nodes')) return json(response, 403, forbid(request));
    if (path.endsWith('/mutatingadmissionpolicybindings/pods.cni-gate.io'))
      return json(response, 200, { spec: {} });
    if (method === 'POST') return json(response, 201, { metadata: {}, spec: {} });
    if (/\/(?:cni-gate|[a-z-]+\.cni-gate\.io|cni-gate-leader)$/.test(path))
      return json(response, 404, status(404, 'NotFound', 'not found'));
    const isNamed = query.fieldSelector === 'metadata.name=nowhere';
    const items = path === '/api/v1/namespaces' && !isNamed ? [shop] : [];
    return json(response, 200, { metadata: { resourceVersion: '1' }, items });
  });
  const facts = await observe(client, options);
  assert.equal(facts.configuration.missing, 'config.yaml of ConfigMap cni-gate/cni-gate');
  const rows = rowsOf(facts, 'status');
  assert.equal(rows.find(({ check }) => check === 'nodes')?.result, 'not-known');
  assert.equal(asked.filter(({ method }) => method === 'POST').length, 1);
  await assert.rejects(observe(client, { ...options, namespace: 'nowhere' }), {
    code: 'CNI_GATE_CLUSTER_NOT_FOUND',
  });
});

test('an API server that fails after its first answer is an error, not a finding', async (t) => {
  const { client } = await startFakeApi(t, ({ path }, response) => {
    if (path === '/version') json(response, 200, version);
    else json(response, 500, status(500, 'InternalError', 'etcdserver: request timed out'));
  });
  await assert.rejects(observe(client, options), { code: 'CNI_GATE_CLUSTER_BUSY' });
});

test("times are compared with the API server's clock, not with that of the reader", async (t) => {
  // the API server's clock is ten minutes behind the reader's
  const there = new Date(Date.now() - 600_000);
  const { client } = await startFakeApi(t, (asked, response) => {
    const date = { date: there.toUTCString() };
    json(
      response,
      asked.path === '/version' ? 200 : 403,
      asked.path === '/version' ? version : forbid(asked),
      date,
    );
  });
  const facts = await observe(client, options);
  assert.ok(Math.abs(facts.now - there.getTime()) < 30_000);
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
