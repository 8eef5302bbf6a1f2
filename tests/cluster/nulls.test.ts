import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodePodRequest } from '../../webhook/admission/review.ts';
import type { Container, Pod } from '../../webhook/core/facts/pod.ts';
import { copyOf } from '../support/answers.ts';
import { reviewOf } from '../support/reviews.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { type ReviewedPod, startNeighbour } from './installed/neighbour.ts';

/* What the API server makes of null before it calls a webhook, compared with what our decoder makes of null. */

const cluster = await Cluster.start();
after(async () => {
  await spy.close();
  await cluster.stop();
});
await cluster.kubectl(['label', 'namespace', 'default', 'neighbours=yes']);
let called: Pod | undefined;
const spy = await startNeighbour(cluster, 'spy', '10.254.9.9', (seen: ReviewedPod) => {
  called = seen as unknown as Pod;
  return [];
});
await eventually(async () => {
  await create(pod('probe'));
  assert.ok(called);
});

const image = 'example/web';
const web = { name: 'web', image };
const resources = { requests: { cpu: null, memory: '1Gi' } };

const accepted: Record<string, object> = {
  'a label and an annotation': pod('a', {}, { labels: { a: null, b: 'c' }, annotations: { d: null } }),
  'all labels and annotations': pod('a', {}, { labels: null, annotations: null }),
  'the namespace and the generateName': pod('a', {}, { namespace: null, generateName: null }),
  'a node selector': pod('a', { nodeSelector: { disktype: null } }),
  'a pull secret, and the name of one': pod('a', { imagePullSecrets: [null, { name: null }] }),
  'a request': pod('a', {
    containers: [{ ...web, resources }],
  }),
  'the value of a variable': pod('a', { containers: [{ ...web, env: [{ name: 'A', value: null }] }] }),
};

for (const [what, object] of Object.entries(accepted)) {
  test(`null is accepted for ${what}, as our decoder does`, async () => {
    called = undefined;
    await create(object);
    assert.ok(called, 'the webhook was not called');
    const { pod: decoded } = decodePodRequest(copyOf(reviewOf(object)));
    assert.deepEqual(readParts(decoded), readParts(called));
  });
}

const refused: Record<string, object> = {
  'a number for a label': pod('a', {}, { labels: { a: 1 } }),
  'a container': pod('a', { containers: [web, null] }),
  'the name of a container': pod('a', { containers: [{ image, name: null }] }),
  'an init container': pod('a', { initContainers: [null] }),
  'a variable': pod('a', { containers: [{ ...web, env: [null] }] }),
  'a volume': pod('a', { volumes: [null] }),
  'an owner': pod('a', {}, { ownerReferences: [null] }),
};

for (const [what, object] of Object.entries(refused)) {
  test(`refused by both: ${what}`, async () => {
    await assert.rejects(create(object), /: 4(00|22) /);
    assert.throws(() => decodePodRequest(copyOf(reviewOf(object))), { code: 'CNI_GATE_REVIEW_INVALID' });
  });
}

function create(object: object): Promise<unknown> {
  return cluster.api.post('/api/v1/namespaces/default/pods?dryRun=All&fieldValidation=Strict', object);
}

/** The fields of a pod that admission reads and that the API server does not default. Empty values count as absent. */
function readParts({ metadata, spec }: Pod): object {
  const { name, generateName, labels, annotations } = metadata;
  const { nodeSelector, imagePullSecrets } = spec;
  return JSON.parse(
    JSON.stringify({
      metadata: { name, generateName: generateName || undefined, labels, annotations },
      spec: {
        nodeSelector,
        imagePullSecrets: imagePullSecrets?.map((secret) => secret?.name || '-'),
        containers: spec.containers.map(partsOf),
      },
    }),
    (_, value: unknown) => (value === '' || value === '0' ? undefined : (value ?? undefined)),
  );
}

const partsOf = ({ name, resources: given, env }: Container): object => ({
  name,
  requests: given?.requests,
  env: env?.map((one) => [one.name, one.value || '']),
});
