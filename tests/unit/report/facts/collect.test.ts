import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Access } from '../../../../webhook/cluster/access.ts';
import { version as clientVersion } from '../../../../webhook/lib/version.ts';
import { checkPre } from '../../../../webhook/report/checks/before-install.ts';
import { checkInstalled } from '../../../../webhook/report/checks/installed.ts';
import { readPre } from '../../../../webhook/report/facts/before-install.ts';
import { readCheck } from '../../../../webhook/report/facts/collect.ts';
import { type Asked, json, startFakeApi, status } from '../../../support/fake-api-server.ts';
import { policy } from '../objects.ts';

/* How check reads a cluster that refuses, that has too much of something, or whose clock is another one. */

const version = { major: '1', minor: '36+', gitVersion: 'v1.36.3-eks-1' };
const list = (items: object[]): object => ({ kind: 'List', metadata: { resourceVersion: '1' }, items });
const forbid = ({ path }: Asked): object =>
  status(403, 'Forbidden', `things is forbidden: User "x" cannot list resource "things" at ${path}`);

/** An API server that answers some paths and refuses the others as RBAC does. */
const start = (
  t: TestContext,
  answers: Record<string, (asked: Asked) => object>,
  access?: (url: string) => Access,
) =>
  startFakeApi(
    t,
    (asked, response) => {
      const answer = answers[asked.path];
      if (answer === undefined) json(response, 403, forbid(asked));
      else json(response, 200, answer(asked));
    },
    access,
  );

test('without any right but that to the version: every check that needs one says which', async (t) => {
  const { client } = await start(t, { '/version': () => version });
  const facts = await readCheck(client, { ownNamespace: 'cni-gate', given: undefined, probe: false });
  const findings = checkInstalled(facts, Date.now());
  assert.equal(findings['kubernetes-version']?.what, 'v1.36.3-eks-1');
  const others = Object.entries(findings).filter(
    ([id]) => !['kubernetes-version', 'own-clock', 'installed'].includes(id),
  );
  for (const [id, { result, what }] of others) {
    if (['daemonsets', 'namespace-labels', 'probe'].includes(id)) continue;
    assert.equal(result, 'not-known', `${id}: ${what}`);
    const right =
      /: RBAC lacks verb "(?:get|list)" on (?:resource "[a-z]+" of API group "[a-z0-9.]*"|nonResourceURL "\/apis\/\S+")$/;
    assert.match(what, right, id);
  }
  assert.ok(others.length > 12);
});

test('without any right, also before an installation; rights of the caller are denied and not unknown', async (t) => {
  const denied = (): object => ({ status: { allowed: false } });
  const { client, asked } = await start(t, {
    '/version': () => version,
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': denied,
  });
  const facts = await readPre(client, { ownNamespace: 'cni-gate', policy, source: 'the test' });
  const { findings } = checkPre(facts, Date.now());
  assert.equal(findings['install-rights']?.result, 'failed');
  assert.equal(findings.networks?.result, 'not-known');
  const reviews = asked.filter(({ path }) => path.endsWith('selfsubjectaccessreviews'));
  assert.equal(reviews.length, facts.rights.length);
});

test('the report names context, server and the versions of cni-gate on both sides; the address without a password', async (t) => {
  for (const [image, serverVersion] of [
    ['registry.example.com:5000/cni-gate:0.0.9', '0.0.9'],
    [`registry.example.com:5000/cni-gate:0.0.9@sha256:${'a'.repeat(64)}`, '0.0.9'],
    [`registry.example.com:5000/cni-gate@sha256:${'a'.repeat(64)}`, null],
  ]) {
    const containers = [
      { name: 'proxy', image: 'proxy:1' },
      { name: 'cni-gate', image },
    ];
    const deployment = { metadata: {}, spec: { template: { spec: { containers } } } };
    const answers = {
      '/version': () => version,
      '/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate': () => deployment,
    };
    const { url, client } = await start(t, answers, (at) => ({
      source: 'the test',
      context: 'production',
      connection: async () => ({ server: at.replace('//', '//user:s3cret@'), headers: {}, tls: {} }),
      refresh: () => {},
    }));
    const { cluster } = await readCheck(client, {
      ownNamespace: 'cni-gate',
      given: undefined,
      probe: false,
    });
    assert.deepEqual(cluster, {
      context: 'production',
      server: url,
      clientVersion,
      serverVersion,
    });
  }
});

test('--pre proposes the profiles of complete networks that apply to a pod; none for default beside others', async (t) => {
  const meta = <M extends object>(name: string, more = {} as M) => ({
    name,
    uid: name,
    resourceVersion: '1',
    ...more,
  });
  const podIn = (namespace: string, more: object = {}, ...containers: string[]) => ({
    metadata: meta(`pod-in-${namespace}`, { namespace, ...more }),
    spec: { containers: ['app', ...containers].map((name) => ({ name })) },
  });
  const pods = [
    ...[podIn('default'), podIn('plain'), podIn('meshed', {}, 'linkerd-proxy')],
    podIn('multihomed', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'storage' } }),
    { ...podIn('host-only'), spec: { hostNetwork: true, containers: [{ name: 'app' }] } },
  ];
  const namespaces = [...pods.map(({ metadata }) => meta(metadata.namespace)), meta('empty')];
  const daemonSets = ['cilium', 'kube-multus-ds', 'whereabouts', 'linkerd-cni'].map((name) => ({
    spec: { template: { spec: {} } },
    metadata: meta(name, { namespace: name === 'linkerd-cni' ? name : 'kube-system' }),
  }));
  const { client } = await startFakeApi(t, ({ path, query }, response) => {
    const answer: Record<string, object> = {
      '/version': version,
      '/api/v1/namespaces': list(namespaces.map((metadata) => ({ metadata }))),
      '/api/v1/pods': list(pods),
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { status: { allowed: true } },
    };
    const own = daemonSets.filter(
      ({ metadata }) =>
        path === `/apis/apps/v1/namespaces/${metadata.namespace}/daemonsets` &&
        query.fieldSelector === `metadata.name=${metadata.name}`,
    );
    json(response, path in answer || path.endsWith('/daemonsets') ? 200 : 404, answer[path] ?? list(own));
  });
  const facts = await readPre(client, { ownNamespace: 'cni-gate', policy, source: 'the test' });
  const proposed = (more: object = {}): object =>
    Object.fromEntries(
      checkPre({ ...facts, ...more }, Date.now()).proposals.map(({ namespace, profile }) => [
        namespace,
        profile,
      ]),
    );
  assert.deepEqual(proposed(), {
    plain: 'cilium',
    meshed: 'cilium.linkerd',
    multihomed: 'cilium.multus',
  });
  const only = { found: [{ name: 'default', profile: undefined, labels: {} }] };
  assert.deepEqual(proposed({ namespaces: only }), { default: 'cilium' });
});

test('an API server that fails in the middle is an error, and no finding', async (t) => {
  const { client } = await startFakeApi(t, ({ path }, response) => {
    if (path === '/version') json(response, 200, version);
    else json(response, 500, status(500, 'InternalError', 'etcdserver: request timed out'));
  });
  const options = { ownNamespace: 'cni-gate', given: undefined, probe: false };
  await assert.rejects(readCheck(client, options), { code: 'CNI_GATE_CLUSTER_BUSY' });
});
