import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ConfigurationSnapshot, sharedObjects } from '../../../certs/objects.ts';
import { type FakeApiServer, json, startFakeApi, status } from '../../support/fake-api-server.ts';

const service = { namespace: 'cni-gate', name: 'cni-gate' };
const secretPath = '/api/v1/namespaces/cni-gate/secrets/cni-gate-tls';
const configurationPath = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cni-gate';

/**
 * An API server that answers as told, a request each. What the real one makes of a stale version is for the cluster's
 * tests; here it is that each write names the version that it is over, whatever was read since.
 */
async function answering(t: TestContext, ...answers: [code: number, body: object][]) {
  const api = await startFakeApi(t, ({ index }, response) => {
    const [code, body] = answers[index] ?? [
      500,
      status(500, 'InternalError', 'the test has no more answers'),
    ];
    json(response, code, body);
  });
  const shared = sharedObjects(api.client, {
    namespace: 'cni-gate',
    secret: 'cni-gate-tls',
    service: 'cni-gate',
    configurations: ['mutating/cni-gate'],
  });
  return { api, shared };
}

function bodyOf(api: FakeApiServer, index: number): unknown {
  return JSON.parse(api.asked[index]?.body ?? 'null');
}

const secret = (uid: string, resourceVersion: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { namespace: 'cni-gate', name: 'cni-gate-tls', uid, resourceVersion, ...more },
  data: { 'tls.crt': Buffer.from('old').toString('base64') },
});

test('a Secret is replaced over the one that was read', async (t) => {
  const { api, shared } = await answering(
    t,
    [200, secret('a', '1', { annotations: { theirs: 'yes' } })],
    [200, secret('a', '2')],
  );
  await shared.write({ 'tls.crt': 'new' }, await shared.secret());
  const { method, path } = api.asked[1] ?? {};
  assert.deepEqual([method, path], ['PUT', secretPath]);
  const { metadata, data, type } = bodyOf(api, 1) as ReturnType<typeof secret>;
  assert.deepEqual([metadata.uid, metadata.resourceVersion], ['a', '1']);
  assert.deepEqual(
    { annotations: (metadata as { annotations?: object }).annotations, type },
    { annotations: { theirs: 'yes' }, type: 'kubernetes.io/tls' },
    'what is not ours stays',
  );
  assert.deepEqual(data, { 'tls.crt': Buffer.from('new').toString('base64') });
});

const webhooks = [
  { name: 'ours', clientConfig: { service, caBundle: Buffer.from('ours').toString('base64') } },
  { name: 'another-name', clientConfig: { service: { ...service, name: 'other' }, caBundle: 'eA==' } },
  { name: 'another-namespace', clientConfig: { service: { ...service, namespace: 'other' } } },
  { name: 'by-address', clientConfig: { url: 'https://cni-gate.cni-gate.svc' } },
  { name: 'ours-too', clientConfig: { service } },
];
const configuration = { metadata: { uid: 'a', resourceVersion: '7', generation: 3 }, webhooks };

test('configurations are in the order in which they were asked for, whichever is answered first', async (t) => {
  const api = await startFakeApi(t, ({ path }, response) => {
    const late = path.includes('mutating') ? 50 : 0;
    setTimeout(() => json(response, 200, configuration), late);
  });
  const names = ['mutating/cni-gate', 'validating/cni-gate'] as const;
  const objects = { namespace: 'cni-gate', secret: 'x', service: 'cni-gate', configurations: names };
  const { found } = await sharedObjects(api.client, objects).configurations();
  assert.deepEqual(
    found.map(({ name }) => name),
    names,
  );
});

const seen: ConfigurationSnapshot = {
  name: 'mutating/cni-gate',
  version: 'a/3',
  resourceVersion: '7',
  webhooks: [0, 4],
  bundles: ['ours', ''],
};

test('a caBundle is read and written in those webhooks that call our Service, over the version that was read', async (t) => {
  const { api, shared } = await answering(t, [200, configuration], [200, configuration]);
  assert.deepEqual((await shared.configurations()).found, [seen]);
  await shared.trust(seen, 'both');
  const { method, path, headers } = api.asked[1] ?? {};
  assert.deepEqual([method, path], ['PATCH', configurationPath]);
  assert.equal(headers?.['content-type'], 'application/json-patch+json');
  const value = Buffer.from('both').toString('base64');
  assert.deepEqual(bodyOf(api, 1), [
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value },
    { op: 'add', path: '/webhooks/4/clientConfig/caBundle', value },
  ]);
});
