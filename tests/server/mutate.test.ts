import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { NamespaceFacts } from '../../webhook/core/facts/namespace.ts';
import { bodiesOfTurn } from '../../webhook/lib/limits.ts';
import { viewOf } from '../support/cluster-views.ts';
import { eventually } from '../support/eventually.ts';
import { patchOf, recorded, reviewOf } from '../support/reviews.ts';
import { startServer } from '../support/running-server.ts';

test('a recorded review is answered over TLS, logged in one line and counted', async (t) => {
  const server = await startServer(t);
  const review = recorded('pod-deployment-web');
  const answer = await server.post('/mutate?timeout=10s', JSON.stringify(review));
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  const { apiVersion, kind, response } = JSON.parse(answer.body);
  assert.deepEqual(
    [apiVersion, kind, response.uid],
    ['admission.k8s.io/v1', 'AdmissionReview', review.request.uid],
  );
  assert.equal(response.patchType, 'JSONPatch');
  assert.equal(patchOf(response)[0]?.path, '/spec/initContainers/0');
  assert.deepEqual(response.auditAnnotations, {
    outcome: 'injected',
    reason: 'profile-applies',
    profiles: 'cilium',
  });

  const reported = server.lines.filter((line) => line.uid === review.request.uid && line.level === 'info');
  assert.equal(reported.length, 1);
  const { namespace, pod, outcome, profiles, operations, dryRun, requestId } = reported[0] ?? {};
  assert.deepEqual(
    { namespace, pod, outcome, profiles, operations, dryRun },
    {
      namespace: 'shop',
      pod: 'web-7fdb9d4559-*',
      outcome: 'injected',
      profiles: ['cilium'],
      operations: 3,
      dryRun: false,
    },
  );
  assert.ok(requestId);
  const metrics = (await server.ops('/metrics')).body;
  assert.match(
    metrics,
    /cni_gate_admission_reviews_total\{webhook="mutate",profile="cilium",outcome="injected",reason="profile-applies"\} 1\n/,
  );
  assert.match(metrics, /cni_gate_admission_duration_seconds_count\{webhook="mutate"\} 1\n/);
});

test('nothing of a pod but its name reaches the log at info, and labels of pods make no series', async (t) => {
  const server = await startServer(t);
  const pod = {
    metadata: { name: 'a', labels: { 'cni-gate.io/profile': 'invented' } },
    spec: { containers: [{ name: 'c', env: [{ name: 'PASSWORD', value: 'hunter2' }] }] },
  };
  const { response } = JSON.parse((await server.post('/mutate', JSON.stringify(reviewOf(pod)))).body);
  assert.equal(response.allowed, false);
  assert.equal(response.status.code, 403);
  assert.match(response.status.message, /profile "invented" does not exist; the configuration has: /);
  assert.doesNotMatch(JSON.stringify(server.lines), /hunter2/);
  const metrics = (await server.ops('/metrics')).body;
  assert.match(metrics, /profile="",outcome="refused",reason="CNI_GATE_PROFILE_UNKNOWN"\} 1/);
  assert.doesNotMatch(metrics, /invented/);
});

test("pods of cni-gate's own namespace are exempt", async (t) => {
  const server = await startServer(t, { ownNamespace: 'shop' });
  const answer = await server.post('/mutate', JSON.stringify(recorded('pod-ad-hoc')));
  assert.equal(JSON.parse(answer.body).response.auditAnnotations.reason, 'exempt-namespace');
});

test('TLS 1.2 and later, HTTP/1.1 only, and a longer keep-alive than the client of the API server', async (t) => {
  const server = await startServer(t);
  const handshake = (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> =>
    new Promise((resolve, reject) => {
      const socket = connect(
        {
          host: '127.0.0.1',
          port: server.port,
          servername: 'localhost',
          ca: server.certificate.authority,
          minVersion: version,
          maxVersion: version,
          ciphers: 'DEFAULT@SECLEVEL=0',
          ALPNProtocols: ['h2', 'http/1.1'],
        },
        () => {
          resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`);
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });
  assert.equal(await handshake('TLSv1.3'), 'TLSv1.3 http/1.1');
  assert.equal(await handshake('TLSv1.2'), 'TLSv1.2 http/1.1');
  await assert.rejects(handshake('TLSv1.1'));
  const answer = await server.post('/mutate', JSON.stringify(recorded('pod-ad-hoc')));
  assert.match(String(answer.headers['keep-alive']), /timeout=9[0-9]/);
});

test('pods that wait for one namespace are decided in several turns of the event loop', async (t) => {
  const { promise, resolve } = Promise.withResolvers<NamespaceFacts>();
  let asked = 0;
  const facts = () => {
    asked += 1;
    return promise;
  };
  const review = JSON.stringify(recorded('pod-ad-hoc'));
  const server = await startServer(t, { cluster: () => viewOf({ facts }) });
  const answers = Array.from({ length: 20 }, () => server.post('/mutate', review));
  await eventually(() => asked, answers.length);
  resolve({ labels: { 'cni-gate.io/profile': 'cilium' } });
  const decided = () => server.lines.filter(({ webhook }) => webhook === 'mutate').length;
  for (let before = 0; before < answers.length; before = decided()) {
    await setImmediate();
    assert.ok(decided() - before <= bodiesOfTurn, `${decided() - before} in one turn`);
  }
  await Promise.all(answers);
});
