import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { ApiError } from './harness/api.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';

/*
 * What the API server does when a webhook answers 429 with `Retry-After`, as cni-gate does when it has no memory left
 * for a call: docs/reference/limits.md rests on it.
 */

const address = '10.254.9.10';
const timeoutSeconds = 4;

const cluster = await Cluster.start();
const { certificate, key } = await cluster.authority.serving([address]);
/** How many of the next calls are told to come again. */
let busy = 0;
let calls: { at: number; body: string }[] = [];
const webhook = createServer({ cert: certificate, key }, (request, response) => {
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
    response.end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: review.request.uid, allowed: true },
      }),
    );
  });
});
await new Promise<void>((resolve, reject) => webhook.on('error', reject).listen(0, address, resolve));
const { port } = webhook.address() as { port: number };
after(async () => {
  webhook.closeAllConnections();
  webhook.close();
  await cluster.stop();
});
await cluster.kubectl(['label', 'namespace', 'default', 'busy=yes']);
await cluster.apply({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  metadata: { name: 'busy' },
  webhooks: [
    {
      name: 'busy.example.com',
      clientConfig: {
        url: `https://${address}:${port}/`,
        caBundle: Buffer.from(cluster.authority.pair.certificate).toString('base64'),
      },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { busy: 'yes' } },
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds,
    },
  ],
});

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
