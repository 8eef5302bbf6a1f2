import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '../../webhook/admission/pod.ts';
import { answerTo, patched } from '../support/answers.ts';
import { contexts } from '../support/arbitrary/contexts.ts';
import { pods } from '../support/arbitrary/pods.ts';
import { qosClass } from '../support/qos.ts';
import { ApiError } from './harness/api.ts';
import { namespace } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { tryPod } from './installed/overlay.ts';

/*
 * The API server judges patches of random pods. It also checks `qosClass`, by which the unit tests of properties judge
 * many more of them.
 */

type Stored = Pod & { status: { qosClass: string } };

const seed = 1;
const where = 'random';

const cluster = await startCluster();
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: where, name: 'builder' } };
await cluster.apply(namespace(where));
await cluster.apply(account);
await cluster.api.until(
  `/api/v1/namespaces/${where}/serviceaccounts`,
  ({ metadata }: { metadata: { name: string } }) => metadata.name === 'default',
);

/** The pod as the API server would store it; its words where it refuses the pod. */
async function stored({ metadata, spec }: Pod): Promise<Stored | string> {
  try {
    return await tryPod<Stored>(cluster, where, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

test('a pod that the API server takes, it takes with our patch as well, in the same QoS class', async () => {
  let taken = 0;
  let patches = 0;
  for (const [pod, context] of fc.sample(fc.tuple(pods, contexts), { numRuns: 500, seed })) {
    const { patch } = await answerTo(pod, context);
    const asItCame = await stored(pod);
    if (typeof asItCame === 'string') continue;
    taken += 1;
    const given = JSON.stringify({ pod, patch });
    assert.equal(qosClass(pod), asItCame.status.qosClass, given);
    if (patch.length === 0) continue;
    patches += 1;
    const asItLeft = await stored(patched(pod, patch));
    assert.ok(typeof asItLeft !== 'string', `${asItLeft} ${given}`);
    assert.equal(asItLeft.status.qosClass, asItCame.status.qosClass, given);
    const again = await answerTo(asItLeft, context);
    assert.deepEqual(again.patch, [], `patched again as the API server stores it: ${given}`);
  }
  assert.ok(taken >= 150 && patches >= 100, `${taken} pods taken, ${patches} of them patched`);
});
