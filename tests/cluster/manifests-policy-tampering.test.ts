import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileLabel, statusAnnotation } from '../../webhook/lib/names.ts';
import { changed, injected, refused, refusedWithWitness, taken } from '../support/changed-injections.ts';
import { startCluster } from './harness/start.ts';
import { acceptImages, apply, byPolicy, policyAlone, tryPod } from './installed/overlay.ts';
import { makeNamespace } from './installed/working.ts';

/* What another webhook might do to a pod after cni-gate had it. */

const cluster = await startCluster();
await apply(cluster, 'strict');
await acceptImages(cluster, 'example/other', 'mirror.example:5000/check:1');
await policyAlone(cluster);
await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });

const plain = await injected('cilium.multus');
/** With the kubelet as witness. */
const witnessed = await injected('cilium.seen');

for (const [from, cases] of [[plain, refused] as const, [witnessed, refusedWithWitness] as const]) {
  for (const [what, change, message] of cases) {
    test(`refused: ${what}`, async () => {
      await assert.rejects(
        tryPod(cluster, 'shop', changed(from, change)),
        (error: unknown) => byPolicy(error) && message.test(error.message),
      );
    });
  }
}

test('taken: the kubelet as witness', () => tryPod(cluster, 'shop', witnessed));

test('taken: proof.mode warn, as the annotation says', async () => {
  await tryPod(cluster, 'shop', await injected('cilium.multus', { mode: 'warn' }));
});

for (const [what, change] of taken)
  test(`taken: ${what}`, () => tryPod(cluster, 'shop', changed(plain, change)));

test('an update of a pod is no matter of the policy', async () => {
  await cluster.api.post('/api/v1/namespaces/shop/pods', plain);
  await cluster.api.patch('/api/v1/namespaces/shop/pods/web', {
    metadata: { annotations: { [statusAnnotation]: null } },
  });
});
