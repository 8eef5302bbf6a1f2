import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { patchOf, recorded, reviewOf } from '../support/reviews.ts';
import { startServer, type TestServer } from '../support/running-server.ts';

const limit = 7 * 1024 * 1024;

/** The server answers a good review as it should: asked after each hostile one. */
async function stillServes(server: TestServer): Promise<void> {
  const answer = await server.post('/mutate', JSON.stringify(recorded('pod-deployment-web')));
  assert.equal(answer.status, 200);
  assert.equal(patchOf(JSON.parse(answer.body).response)[0]?.path, '/spec/initContainers/0');
}

/** A review of a given number of bytes, filled by an annotation. */
function reviewOfSize(size: number): string {
  const { request } = recorded('pod-ad-hoc');
  const pod = request.object;
  pod.metadata.annotations = { filler: '' };
  const frame = JSON.stringify(reviewOf(pod)).length;
  pod.metadata.annotations.filler = 'x'.repeat(size - frame);
  return JSON.stringify(reviewOf(pod));
}

const pod = (more: object = {}): object => ({
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'c' }] },
  ...more,
});

test('bodies that are no review of a pod get a clear 4xx, are counted, and the server goes on', async (t) => {
  const server = await startServer(t);
  const cases: [string, string | Buffer, number, string, RegExp][] = [
    [
      'truncated JSON',
      JSON.stringify(recorded('pod-ad-hoc')).slice(0, -20),
      400,
      'REVIEW_SYNTAX',
      /not JSON/,
    ],
    ['no JSON', 'hello', 400, 'REVIEW_SYNTAX', /not JSON/],
    ['nothing', '', 400, 'REVIEW_SYNTAX', /empty body/],
    ['null', 'null', 400, 'REVIEW_INVALID', /expected an AdmissionReview, got null/],
    ['a list', '[]', 400, 'REVIEW_INVALID', /got a list of 0/],
    [
      'v1beta1',
      JSON.stringify({ ...reviewOf(pod()), apiVersion: 'admission.k8s.io/v1beta1' }),
      400,
      'REVIEW_INVALID',
      /got kind "AdmissionReview" of "admission.k8s.io\/v1beta1"/,
    ],
    [
      'another kind',
      JSON.stringify({ ...reviewOf(pod()), kind: 'Pod' }),
      400,
      'REVIEW_INVALID',
      /got kind "Pod"/,
    ],
    [
      'no request',
      JSON.stringify({ ...reviewOf(pod()), request: undefined }),
      400,
      'REVIEW_INVALID',
      /no request, but nothing/,
    ],
    [
      'null request',
      JSON.stringify({ ...reviewOf(pod()), request: null }),
      400,
      'REVIEW_INVALID',
      /no request, but null/,
    ],
    [
      'no uid',
      JSON.stringify(reviewOf(pod(), { uid: undefined })),
      400,
      'REVIEW_INVALID',
      /request\.uid is missing/,
    ],
    [
      'a Deployment',
      JSON.stringify(reviewOf(pod(), { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } })),
      400,
      'REVIEW_KIND',
      /expected request\.kind Pod/,
    ],
    ['a Binding', JSON.stringify(recorded('binding-meshed')), 400, 'REVIEW_KIND', /"Binding"|keys/],
    [
      'a null object',
      JSON.stringify(reviewOf(null)),
      400,
      'REVIEW_INVALID',
      /request\.object should be the pod, is null/,
    ],
    [
      'no spec',
      JSON.stringify(reviewOf({ metadata: {} })),
      400,
      'REVIEW_INVALID',
      /request\.object must have required property 'spec'/,
    ],
    [
      'containers of numbers',
      JSON.stringify(reviewOf({ metadata: {}, spec: { containers: [1] } })),
      400,
      'REVIEW_INVALID',
      /\/spec\/containers\/0 must be object/,
    ],
    [
      'an annotation of a number',
      JSON.stringify(reviewOf(pod({ metadata: { annotations: { a: 1 } } }))),
      400,
      'REVIEW_INVALID',
      /\/metadata\/annotations\/a must be string/,
    ],
    ['7 MiB and a byte', reviewOfSize(limit + 1), 413, 'REVIEW_TOO_LARGE', /larger than 7340032 bytes/],
    ['a million open brackets', '['.repeat(1_000_000), 400, 'REVIEW_INVALID', /at most 256 levels/],
    [
      '100,000 deep',
      JSON.stringify(reviewOf(pod({ deep: 'DEEP' }))).replace(
        '"DEEP"',
        '['.repeat(100_000) + ']'.repeat(100_000),
      ),
      400,
      'REVIEW_INVALID',
      /at most 256 levels/,
    ],
    [
      'two million empty objects',
      `[${'{},'.repeat(2_000_000)}{}]`,
      413,
      'REVIEW_TOO_LARGE',
      /may take 6\d\d MiB of memory; the server has \d+ MiB for one call/,
    ],
  ];
  for (const [name, body, status, code, text] of cases) {
    await t.test(name, async () => {
      const answer = await server.post('/mutate', body);
      assert.equal(answer.status, status, answer.body);
      const reported = JSON.parse(answer.body);
      assert.equal(reported.code, `CNI_GATE_${code}`);
      assert.match(reported.message, text);
      await stillServes(server);
    });
  }
  const metrics = (await server.ops('/metrics')).body;
  const counted = (code: string): number => cases.filter(([, , , name]) => name === code).length;
  for (const code of ['REVIEW_SYNTAX', 'REVIEW_INVALID', 'REVIEW_KIND', 'REVIEW_TOO_LARGE']) {
    assert.match(
      metrics,
      new RegExp(`cni_gate_bad_requests_total\\{code="CNI_GATE_${code}"\\} ${counted(code)}\\n`),
    );
  }
});

test('headers and paths that are not for admission calls', async (t) => {
  const server = await startServer(t);
  const good = JSON.stringify(recorded('pod-ad-hoc'));
  const gzip = await server.post('/mutate', gzipSync(good), { headers: { 'content-encoding': 'gzip' } });
  assert.equal(gzip.status, 415);
  assert.match(gzip.body, /CNI_GATE_REVIEW_MEDIA.*Content-Encoding gzip/);
  const hidden = await server.post('/mutate', gzipSync(good));
  assert.equal(hidden.status, 400);
  assert.match(hidden.body, /CNI_GATE_REVIEW_SYNTAX/);
  const form = await server.post('/mutate', good, { headers: { 'content-type': 'text/plain' } });
  assert.equal(form.status, 415);
  assert.match(form.body, /expected Content-Type application\/json, got text\/plain/);
  for (const [path, method] of [
    ['/', 'POST'],
    ['/mutate', 'GET'],
    ['/gate', 'GET'],
    ['/namespaces', 'GET'],
    ['/bindings', 'POST'],
  ] as const) {
    const answer = await server.post(path, method === 'GET' ? '' : good, { method });
    assert.equal(answer.status, 404, path);
    assert.match(
      answer.body,
      /CNI_GATE_NOT_FOUND.*POST \/mutate for pods, \/gate for bindings and \/namespaces for/,
    );
  }
  await stillServes(server);
});

test('large, deep and oddly keyed reviews are answered like any other', async (t) => {
  const server = await startServer(t);
  let deep: unknown = 'end';
  for (let depth = 0; depth < 200; depth++) deep = { [`d${depth}`]: deep };
  const odd = '{"__proto__":"x","constructor":"y","prototype":"z"}';
  const many = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`example.com/a${index}`, 'v']),
  );
  const cases: [string, string][] = [
    ['7 MiB', reviewOfSize(limit)],
    ['200 deep', JSON.stringify(reviewOf(pod({ deep })))],
    [
      '__proto__ keys',
      JSON.stringify(
        reviewOf(pod({ metadata: { labels: 'ODD', annotations: 'ODD' }, extra: 'ODD' })),
      ).replaceAll('"ODD"', odd),
    ],
    ['10,000 annotations', JSON.stringify(reviewOf(pod({ metadata: { annotations: many } })))],
  ];
  for (const [name, body] of cases) {
    await t.test(name, async () => {
      const answer = await server.post('/mutate', body);
      assert.equal(answer.status, 200, answer.body);
      const { response } = JSON.parse(answer.body);
      assert.equal(response.allowed, true);
      assert.equal(patchOf(response)[0]?.path, '/spec/initContainers');
      assert.equal(({} as Record<string, unknown>).x, undefined);
      await stillServes(server);
    });
  }
});
