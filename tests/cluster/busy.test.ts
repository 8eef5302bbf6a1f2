import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { ApiError } from './harness/api.ts';
import { eventually } from './harness/eventually.ts';
import { startCluster } from './harness/start.ts';
import { startWebhook } from './installed/neighbour.ts';

/*
 * What the API server does when a webhook answers 429 with `Retry-After`, as cni-gate does when it has no memory left
 * for a call: docs/reference/limits.md rests on it.
 */

const timeoutSeconds = 4;

const cluster = await startCluster();
/** How many of the next calls are told to come again. */
let busy = 0;
let calls: { at: number; body: string }[] = [];
const listener: RequestListener = (request, response) => {
  void json(request).then((body) => {
    const review = body as { request: { uid: string } };
    calls.push({ at: performance.now(), body: JSON.stringify(review) });
    response.setHeader('content-type', 'application/json');
    if (busy > 0) {
      busy--;
      const refusal = { code: 'CNI_GATE_BUSY', message: 'the server has no memory left for this call' };
      response.writeHead(429, { 'retry-after': '1' }).end(JSON.stringify(refusal));
      return;
    }
    const answer = { uid: review.request.uid, allowed: true };
    response.end(
      JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }),
    );
  });
};
await cluster.kubectl(['label', 'namespace', 'default', 'neighbours=yes']);
const resources = ['configmaps'];
const webhook = await startWebhook(cluster, 'busy', '10.254.9.10', listener, { resources, timeoutSeconds });
after(() => webhook.end());

const create = (name: string): Promise<unknown> =>
  cluster.api.post('/api/v1/namespaces/default/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
  });

// a webhook is called a moment after it is registered
let probes = 0;
await eventually(async () => {
  await create(`probe-${probes++}`);
  assert.ok(calls.length > 0);
});

test('a call that is answered with 429 is sent again after a second, and the creation succeeds', async () => {
  calls = [];
  busy = 1;
  await create('once');
  assert.equal(calls.length, 2);
  const [first, second] = calls as [(typeof calls)[0], (typeof calls)[0]];
  assert.ok(second.at - first.at >= 1000, `${second.at - first.at} ms`);
  assert.equal(second.body, first.body);
});

test('it is sent again until timeoutSeconds are over, and then the creation fails', async () => {
  calls = [];
  busy = 2;
  await create('twice');
  assert.equal(calls.length, 3);

  calls = [];
  busy = Number.POSITIVE_INFINITY;
  const begun = performance.now();
  await assert.rejects(create('never'), (error) => {
    assert.ok(error instanceof ApiError);
    assert.match(error.message, /failed calling webhook "busy\.example\.com"/);
    return true;
  });
  assert.ok(performance.now() - begun >= (timeoutSeconds - 1) * 1000);
  assert.ok(calls.length > 2 && calls.length <= timeoutSeconds + 1, `${calls.length} calls`);
});
