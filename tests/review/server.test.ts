import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { CniGateError } from '../../webhook/lib/errors.ts';
import { remote } from '../../webhook/review/ask/remote.ts';
import { recorded } from '../support/reviews.ts';
import { startServer } from '../support/running-server.ts';
import { folderWith, pod, type Reviewed, reviewNames, reviewText } from './support.ts';

const now = new Date();
const authority = createAuthority({ commonName: 'review test', days: 1, now });
const serving = issueServing(authority, { names: ['localhost'], days: 1, now });

interface Fake {
  url: string;
  ca: string;
  /** What was asked: method, path and body. */
  calls: { method: string | undefined; url: string | undefined; body: string }[];
}

/** A server that answers each body with a status and a text. */
async function fake(t: TestContext, answer: (body: string) => [status: number, text: string]): Promise<Fake> {
  const calls: Fake['calls'] = [];
  const listener: RequestListener = async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    calls.push({ method: request.method, url: request.url, body });
    const [status, text] = answer(body);
    if (status > 0) response.writeHead(status).end(text);
  };
  const server = createServer({ key: serving.key, cert: serving.certificate }, listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, 'localhost', resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = folderWith(t, { 'ca.crt': authority.certificate });
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}`, ca: join(folder, 'ca.crt'), calls };
}

const asked = (t: TestContext, text: string, url: string, ca: string, timeout = 5000): Promise<Reviewed> => {
  const folder = folderWith(t, { 'input.yaml': text });
  return reviewNames({ names: [folder], namespace: 'x', admission: remote({ url, ca, timeout }) });
};

const answerOf = (body: string, response: object): string => {
  const { uid } = JSON.parse(body).request;
  return JSON.stringify({ kind: 'AdmissionReview', response: { uid, allowed: true, ...response } });
};

test('the real server gives the same answers as review without a server', async (t) => {
  const profile = 'cilium.linkerd';
  const server = await startServer(t, { profile });
  const ca = join(folderWith(t, { 'ca.crt': server.certificate.authority ?? '' }), 'ca.crt');
  const url = `https://localhost:${server.port}`;
  const reviews = ['pod-meshed', 'binding-meshed', 'pod-host-networked'].map((name) =>
    JSON.stringify(recorded(name)),
  );
  const broken = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}';
  const text = [...reviews, broken].join('\n');
  const there = await asked(t, text, url, ca);
  const here = await reviewText(t, text, { profile });
  assert.equal(there.answers(), here.answers());
  assert.deepEqual(there.faults, here.faults);
  assert.deepEqual(there.summary, here.summary);
  const manifests = [pod('a'), pod('b').replace('spec:', 'spec:\n  hostNetwork: true')].join('---\n');
  assert.equal(
    (await asked(t, manifests, url, ca)).yaml(),
    (await reviewText(t, manifests, { profile })).yaml(),
  );
});

test('--server: POST /mutate?timeout=, dry runs, one after another', async (t) => {
  const server = await fake(t, (body) => [200, answerOf(body, {})]);
  const text = `${pod('a')}---\n${JSON.stringify(recorded('pod-meshed'))}`;
  const { reported } = await asked(t, text, server.url, server.ca);
  assert.deepEqual(reported, ['skipped not given Pod shop/a', 'skipped not given Pod shop/meshed']);
  assert.deepEqual(
    server.calls.map(({ method, url }) => `${method} ${url}`),
    ['POST /mutate?timeout=5s', 'POST /mutate?timeout=5s'],
  );
  for (const { body } of server.calls) {
    const { apiVersion, kind, request } = JSON.parse(body);
    assert.deepEqual([apiVersion, kind], ['admission.k8s.io/v1', 'AdmissionReview']);
    assert.equal(request.dryRun, true);
    assert.equal(request.operation, 'CREATE');
    assert.deepEqual(request.kind, { group: '', version: 'v1', kind: 'Pod' });
    assert.equal(request.namespace, 'shop');
  }
});

test('refusals, warnings and patches of any server are read', async (t) => {
  const patch = Buffer.from('[{"op":"add","path":"/spec/nodeName","value":"one"}]').toString('base64');
  const server = await fake(t, (body) => [
    200,
    body.includes('"name":"a"')
      ? answerOf(body, { allowed: false, status: { message: 'no' }, warnings: ['w'] })
      : answerOf(body, { patch, patchType: 'JSONPatch' }),
  ]);
  const { reported, report, yaml } = await asked(t, `${pod('a')}---\n${pod('b')}`, server.url, server.ca);
  assert.deepEqual(reported, ['refused not given Pod shop/a', 'skipped not given Pod shop/b']);
  assert.equal(report.reviewed[0]?.verdict.message, 'no');
  assert.deepEqual(report.reviewed[0]?.verdict.warnings, ['w']);
  assert.match(yaml(), /\n {2}nodeName: one\n$/);
});

test('an invalid answer of a server is an error with the reason', async (t) => {
  const patch = Buffer.from('{"op":1}').toString('base64');
  const wrong: [status: number, text: string | ((body: string) => string), message: RegExp][] = [
    [404, '{"code":"CNI_GATE_NOT_FOUND","message":"no such path"}', /answered 404, .*: no such path$/],
    [200, '<html>', /answered 200 with something that is not JSON/],
    [200, '{}', /answered 200, not an AdmissionReview with a response/],
    [200, '{"response":{"uid":"other","allowed":true}}', /expected a response to uid .*, got uid other/],
    [200, (body) => answerOf(body, { patch }), /its patch is not a JSON Patch/],
    [0, '', /no answer within 300 ms/],
  ];
  for (const [status, text, message] of wrong) {
    const server = await fake(t, (body) => [status, typeof text === 'string' ? text : text(body)]);
    await assert.rejects(asked(t, pod('a'), server.url, server.ca, status === 0 ? 300 : 5000), (error) => {
      assert.ok(error instanceof CniGateError);
      assert.equal(error.code, 'CNI_GATE_SERVER');
      assert.match(error.message, message);
      return true;
    });
  }
});

test('a patch that does not apply to the manifest is an error', async (t) => {
  const patch = Buffer.from('[{"op":"remove","path":"/spec/none"}]').toString('base64');
  const server = await fake(t, (body) => [200, answerOf(body, { patch })]);
  const reviewed = await asked(t, pod('a'), server.url, server.ca);
  assert.throws(() => reviewed.yaml(), /the patch for Pod shop\/a does not apply to it/);
});

test('no server, an untrusted server and an empty --ca file are errors', async (t) => {
  const server = await fake(t, (body) => [200, answerOf(body, {})]);
  const stranger = createAuthority({ commonName: 'stranger', days: 1, now });
  const folder = folderWith(t, { 'other.crt': stranger.certificate, 'empty.crt': 'nothing' });
  for (const [url, ca, code, message] of [
    ['https://localhost:1', server.ca, 'CNI_GATE_SERVER', /cannot be reached: /],
    [server.url, join(folder, 'empty.crt'), 'CNI_GATE_TLS_UNREADABLE', /./],
    [server.url, join(folder, 'other.crt'), 'CNI_GATE_SERVER', /: pass the authority of its certificate/],
  ] as const) {
    await assert.rejects(async () => asked(t, pod('a'), url, ca), { code, message });
  }
});

test('--server: findings that need no profile are reported, and that nothing is checked', async (t) => {
  const skip = (reason: string) => ({ auditAnnotations: { outcome: 'skipped', reason } });
  const asking = pod('a').replace(
    'metadata:',
    'metadata:\n  labels: {cni-gate.io/profil: none}\n  annotations: {linkerd.io/inject: enabled}',
  );
  for (const [reason, found] of [
    ['no-profile-applies', ['KEY_UNKNOWN Pod shop/a', 'NOTHING_CHECKED the input']],
    ['not-opted-in', ['KEY_UNKNOWN Pod shop/a', 'NOTHING_CHECKED the input']],
  ] as const) {
    const server = await fake(t, (body) => [200, answerOf(body, skip(reason))]);
    assert.deepEqual((await asked(t, asking, server.url, server.ca)).findings, found);
  }
});
