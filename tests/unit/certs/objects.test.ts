import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ApiObjects, type ConfigurationSnapshot, Conflict } from '../../../certs/objects.ts';
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
  const shared = new ApiObjects(api.client, {
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

const conflict: [number, object] = [409, status(409, 'Conflict', 'the object has been modified')];
const gone: [number, object] = [404, status(404, 'NotFound', 'not found')];

test('a Secret is replaced over the very one that was read, also where another was read since', async (t) => {
  const { api, shared } = await answering(
    t,
    [200, secret('a', '1')],
    [200, secret('b', '2', { annotations: { theirs: 'yes' } })],
    [200, secret('a', '3')],
  );
  const first = await shared.secret();
  await shared.secret();
  await shared.write({ 'tls.crt': 'new' }, first);
  const { method, path } = api.asked[2] ?? {};
  assert.deepEqual([method, path], ['PUT', secretPath]);
  const { metadata, data, type } = bodyOf(api, 2) as ReturnType<typeof secret>;
  assert.deepEqual([metadata.uid, metadata.resourceVersion], ['a', '1']);
  assert.deepEqual(
    { annotations: (metadata as { annotations?: object }).annotations, type },
    { annotations: { theirs: 'yes' }, type: 'kubernetes.io/tls' },
    'what is not ours stays',
  );
  assert.deepEqual(data, { 'tls.crt': Buffer.from('new').toString('base64') });
});

test('a Secret that another replica created first is a reason to read again', async (t) => {
  const { api, shared } = await answering(t, gone, [409, status(409, 'AlreadyExists', 'already exists')]);
  assert.equal(await shared.secret(), undefined);
  await assert.rejects(shared.write({}, undefined), Conflict);
  assert.equal(api.asked[1]?.method, 'POST');
});

test('a Secret that may not be written, or whose folder is away, is an error', async (t) => {
  const { shared } = await answering(t, [403, status(403, 'Forbidden', 'no')], gone);
  await assert.rejects(shared.write({}, { uid: 'a', version: '1', labelled: true, data: {} }), {
    code: 'CNI_GATE_TLS_SECRET',
  });
  await assert.rejects(shared.write({}, undefined), { code: 'CNI_GATE_TLS_SECRET' });
});

const webhooks = [
  { name: 'ours', clientConfig: { service, caBundle: Buffer.from('ours').toString('base64') } },
  { name: 'another-name', clientConfig: { service: { ...service, name: 'other' }, caBundle: 'eA==' } },
  { name: 'another-namespace', clientConfig: { service: { ...service, namespace: 'other' } } },
  { name: 'by-address', clientConfig: { url: 'https://cni-gate.cni-gate.svc' } },
  { name: 'ours-too', clientConfig: { service } },
];
const configuration = { metadata: { uid: 'a', resourceVersion: '7', generation: 3 }, webhooks };

test('a configuration is read with those of its webhooks that call our Service, by namespace and name', async (t) => {
  const { shared } = await answering(t, [200, configuration]);
  const { found } = await shared.configurations();
  assert.deepEqual(found, [
    {
      name: 'mutating/cni-gate',
      version: 'a/3',
      resourceVersion: '7',
      webhooks: [0, 4],
      bundles: ['ours', undefined],
    },
  ]);
});

test('a configuration without such a webhook is absent', async (t) => {
  const { shared } = await answering(t, [200, { ...configuration, webhooks: webhooks.slice(1, 4) }]);
  const { found, failed, absent } = await shared.configurations();
  assert.deepEqual([found.length, failed.size], [0, 0]);
  assert.match(absent.get('mutating/cni-gate') ?? '', /no webhook that calls the Service cni-gate\/cni-gate/);
});

test('a configuration that cannot be read is in the result', async (t) => {
  const { shared } = await answering(t, [500, status(500, 'InternalError', 'no')]);
  const { found, failed } = await shared.configurations();
  assert.deepEqual([found.length, ...failed.keys()], [0, 'mutating/cni-gate']);
});

const seen: ConfigurationSnapshot = {
  name: 'mutating/cni-gate',
  version: 'a/3',
  resourceVersion: '7',
  webhooks: [0, 4],
  bundles: ['ours', undefined],
};

test('a caBundle is written into those alone, and only over the version that was read', async (t) => {
  const { api, shared } = await answering(t, [200, configuration]);
  await shared.trust(seen, 'both');
  const { method, path, headers } = api.asked[0] ?? {};
  assert.deepEqual([method, path], ['PATCH', configurationPath]);
  assert.equal(headers?.['content-type'], 'application/json-patch+json');
  const value = Buffer.from('both').toString('base64');
  assert.deepEqual(bodyOf(api, 0), [
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value },
    { op: 'add', path: '/webhooks/4/clientConfig/caBundle', value },
  ]);
});

for (const [name, answer] of [
  ['was changed', conflict],
  ['was deleted', gone],
] as const) {
  test(`an object that ${name} since it was read is no error, but a reason to read again`, async (t) => {
    const { shared } = await answering(t, [200, secret('a', '1')], answer, answer);
    const read = await shared.secret();
    await assert.rejects(shared.write({}, read), Conflict);
    await assert.rejects(shared.trust(seen, 'both'), Conflict);
  });
}
