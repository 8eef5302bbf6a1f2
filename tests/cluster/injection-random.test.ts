import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { profileLabel } from '../../webhook/lib/names.ts';
import { answerTo, patched } from '../support/answers.ts';
import { contexts } from '../support/arbitrary/contexts.ts';
import { pods } from '../support/arbitrary/pods.ts';
import { policyOf } from '../support/configurations.ts';
import { withoutReplaced } from '../support/invariants.ts';
import { qosClass } from '../support/qos.ts';
import { ApiError } from './harness/api.ts';
import { addNode } from './harness/nodes.ts';
import { namespace, pod } from './harness/objects.ts';
import { startCluster } from './harness/start.ts';
import { tryPod } from './installed/overlay.ts';

/* The API server checks random pods that cni-gate patched, and the function `qosClass`, which unit tests rely on. */

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

/** The pod as the API server would store it, or the API server's message if it refuses the pod. */
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
  for (const [pod, context] of fc.sample(fc.tuple(pods, contexts), { numRuns: 200, seed })) {
    const { patch, decision } = await answerTo(pod, context);
    const asItCame = await stored(pod);
    if (typeof asItCame === 'string') continue;
    taken += 1;
    const given = JSON.stringify({ pod, patch });
    // the stored pod has the defaults of the API server, which sets a missing request to the limit
    assert.equal(qosClass(asItCame), asItCame.status.qosClass, given);
    if (patch.length === 0) continue;
    patches += 1;
    const asItLeft = await stored(patched(pod, patch));
    assert.ok(typeof asItLeft !== 'string', `${asItLeft} ${given}`);
    // an init container that the patch removes may have determined the class
    const kept = withoutReplaced(asItCame, decision, context.policy);
    assert.equal(asItLeft.status.qosClass, qosClass(kept), given);
    const again = await answerTo(asItLeft, context);
    assert.deepEqual(again.patch, [], `patched again as the API server stores it: ${given}`);
  }
  assert.ok(taken >= 60 && patches >= 40, `${taken} pods taken, ${patches} of them patched`);
});

test('the scheduler counts no more for a pod than before, also when it is made smaller in place', async () => {
  const context = {
    policy: policyOf(),
    namespaces: new FixedNamespaces(new Map([[where, { [profileLabel]: 'cilium' }]])),
  };
  // without kwok, which would write container statuses like a kubelet that does not support resize
  await addNode(cluster, 'n1', { kwok: false });
  const sizes = (cpu: string) => ({ requests: { cpu, memory: '1Gi' }, limits: { cpu, memory: '1Gi' } });
  const bind = async (name: string, cpu: string): Promise<Stored> => {
    const bare = pod(name, {
      containers: [{ name: 'web', image: 'example/web', resources: sizes(cpu) }],
    }) as Pod;
    const { patch } = await answerTo(bare, context, { namespace: where });
    await cluster.api.post(`/api/v1/namespaces/${where}/pods`, patched(bare, patch));
    const field = encodeURIComponent(`metadata.name=${name}`);
    return cluster.api.until<Stored>(`/api/v1/namespaces/${where}/pods?fieldSelector=${field}`, ({ spec }) =>
      Boolean(spec.nodeName),
    );
  };
  // four pods of 1 CPU would fill the node, which has 4; `large` fits because each of them is resized to 0.4
  for (const name of ['a', 'b', 'c', 'd']) {
    const { spec, status } = await bind(name, '1');
    assert.equal(status.qosClass, 'Guaranteed');
    assert.deepEqual(spec.initContainers?.[0]?.resources?.limits, { cpu: '20m', memory: '24Mi' });
    await cluster.api.patch(`/api/v1/namespaces/${where}/pods/${name}/resize`, {
      spec: { containers: [{ name: 'web', resources: sizes('400m') }] },
    });
  }
  await bind('large', '2400m');
});
