import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sharedObjects } from '../../../certs/objects.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';

const service = { namespace: 'cni-gate', name: 'cni-gate' };
const configurations = ['mutating/cni-gate', 'validating/cni-gate'] as const;
const pathOf = (name: string): string =>
  `/apis/admissionregistration.k8s.io/v1/${name.replace('/', 'webhookconfigurations/')}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: {
    namespace: 'cni-gate',
    name: 'cni-gate-tls',
    uid: 'a',
    resourceVersion: '1',
    annotations: { theirs: 'yes' },
  },
  data: { 'tls.crt': base64('old') },
};

const webhooks = [
  { name: 'ours', clientConfig: { service, caBundle: base64('ours') } },
  { name: 'another-name', clientConfig: { service: { ...service, name: 'other' }, caBundle: 'eA==' } },
  { name: 'another-namespace', clientConfig: { service: { ...service, namespace: 'other' } } },
  { name: 'by-address', clientConfig: { url: 'https://cni-gate.cni-gate.svc' } },
  { name: 'ours-too', clientConfig: { service } },
];

/**
 * A fake API server with these objects. The tests show that each write names the resource version that was
 * read; tests/cluster shows what a real API server does with an outdated resource version.
 */
async function stored(t: TestContext) {
  const api = await startFakeApi(t, ({ path }, response) => {
    const configuration = { metadata: { resourceVersion: '7' }, webhooks };
    const isSecret = path.includes('secrets');
    json(response, 200, isSecret ? secret : configuration);
  });
  return { asked: api.asked, shared: sharedObjects(api.client, 'cni-gate', 'cni-gate-tls') };
}

test('a Secret is replaced in the version that was read; what is not ours stays', async (t) => {
  const { asked, shared } = await stored(t);
  await shared.write({ 'tls.crt': 'new' }, await shared.secret());
  const { method, path, body = '' } = asked[1] ?? {};
  assert.deepEqual([method, path], ['PUT', '/api/v1/namespaces/cni-gate/secrets/cni-gate-tls']);
  const labels = { 'cni-gate.io/certificates': 'managed' };
  assert.deepEqual(JSON.parse(body), {
    ...secret,
    metadata: { ...secret.metadata, labels },
    data: { 'tls.crt': base64('new') },
  });
});

test('a caBundle is read and written in those webhooks that call our Service, in the version that was read', async (t) => {
  const { asked, shared } = await stored(t);
  const { found } = await shared.configurations();
  const seen = { resourceVersion: '7', webhooks: [0, 4], bundles: ['ours', ''] };
  assert.deepEqual(
    found,
    configurations.map((name) => ({ name, path: pathOf(name), ...seen })),
  );
  await shared.trust(found[0] ?? assert.fail(), 'both');
  const { method, path, headers, body = '' } = asked[2] ?? {};
  assert.deepEqual([method, path], ['PATCH', pathOf('mutating/cni-gate')]);
  assert.equal(headers?.['content-type'], 'application/json-patch+json');
  const value = base64('both');
  assert.deepEqual(JSON.parse(body), [
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value },
    { op: 'add', path: '/webhooks/4/clientConfig/caBundle', value },
  ]);
});

test("the time is the API server's, whatever the clock of this machine says", async (t) => {
  const date = new Date('2035-01-01T00:00:00Z');
  const headers = { date: date.toUTCString() };
  const { client } = await startFakeApi(t, (_asked, response) => json(response, 200, secret, headers));
  const shared = sharedObjects(client, 'cni-gate', 'x');
  await shared.secret();
  assert.ok(Math.abs(shared.now().getTime() - date.getTime()) < 60_000);
});
