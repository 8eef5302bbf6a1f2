import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patchOf, recorded, reviewOf } from '../support/reviews.ts';
import { startServer, type TestServer } from '../support/running-server.ts';

const limit = 5 * 1024 * 1024;

/** Asserts that the server still answers a valid review; called after each hostile body. */
async function stillServes(server: TestServer): Promise<void> {
  const answer = await server.post('/mutate', JSON.stringify(recorded('pod-deployment-web')));
  assert.equal(answer.status, 200);
  assert.equal(patchOf(JSON.parse(answer.body).response)[0]?.path, '/spec/initContainers/0');
}

/** A review of `size` bytes, which consists mostly of one annotation. */
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

test('bodies other than a review of a pod get a clear 4xx, are counted, and do not stop the server', async (t) => {
  const server = await startServer(t);
  const json = (value: unknown): string => JSON.stringify(value);
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
  const tooMany = /at most 100000 lists, objects and strings in the body/;
  const cases: [name: string, body: string, text: RegExp, status: number, code: string][] = [
    ['truncated JSON', json(recorded('pod-ad-hoc')).slice(0, -20), /not JSON/, 400, 'REVIEW_SYNTAX'],
    ['nothing', '', /not JSON/, 400, 'REVIEW_SYNTAX'],
    ['100,000 open brackets', '['.repeat(100_000), /not JSON/, 400, 'REVIEW_SYNTAX'],
    ['null', 'null', /expected an AdmissionReview, got null/, 400, 'REVIEW_INVALID'],
    ['a Deployment', json(reviewOf(pod(), { kind })), /expected request\.kind Pod/, 400, 'REVIEW_KIND'],
    ['5 MiB and a byte', reviewOfSize(limit + 1), /larger than 5242880 bytes/, 413, 'REVIEW_TOO_LARGE'],
    ...['[', '"",', '{},'].map((part): (typeof cases)[number] => {
      return [`a million times ${part}`, `[${part.repeat(1_000_000)}`, tooMany, 413, 'REVIEW_TOO_LARGE'];
    }),
  ];
  for (const [name, body, text, status, code] of cases) {
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
  assert.match(metrics, /cni_gate_overload_total\{limit="cost"\} 3\n/);
  const counted = (code: string): number => cases.filter((row) => row[4] === code).length;
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
  const deep = (levels: number): string =>
    JSON.stringify(reviewOf(pod({ deep: 'DEEP' }))).replace(
      '"DEEP"',
      '['.repeat(levels) + ']'.repeat(levels),
    );
  const odd = '{"__proto__":"x","constructor":"y","prototype":"z"}';
  const many = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`example.com/a${index}`, 'v']),
  );
  const cases: [string, string][] = [
    ['5 MiB', reviewOfSize(limit)],
    ['10,000 deep', deep(10_000)],
    ['90,000 deep', deep(90_000)],
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
