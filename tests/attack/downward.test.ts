import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podInfoVolume, statusAnnotation, validatorContainer } from '../../webhook/lib/names.ts';
import { reviewOf } from '../support/reviews.ts';
import { Answers, underAttack } from './harness/attack.ts';
import { hammer, send } from './harness/connections.ts';

const odd = [
  ...[null, 0, '', 'x', true, [], {}, [null], [0], ['x'], [[]], [{}]],
  ...[[{ path: null }], [{ path: 0 }], { length: 1e9 }],
];

/** Parts of a pod that cni-gate injected earlier. Only if a pod has them does cni-gate examine the volume. */
const ours = {
  metadata: { name: 'a', annotations: { [statusAnnotation]: '{"profiles":["cilium"],"checks":[]}' } },
  container: { name: validatorContainer, image: 'x', env: [{ name: 'CNI_GATE_CHECKS', value: '[]' }] },
};

/** Reviews of pods whose volume or container from cni-gate has one malformed part. */
const bodies = odd.flatMap((items) =>
  [
    { volumes: [{ name: podInfoVolume, downwardAPI: { items } }] },
    { volumes: [{ name: podInfoVolume, downwardAPI: items }] },
    { volumes: [{ name: podInfoVolume, projected: { sources: items } }] },
    { volumes: [items] },
    { volumes: items },
    { initContainers: [{ ...ours.container, volumeMounts: items }] },
    { initContainers: [{ ...ours.container, env: items }] },
    { initContainers: [{ ...ours.container, resources: items, securityContext: items }] },
  ].map((part) =>
    JSON.stringify(
      reviewOf({
        metadata: ours.metadata,
        spec: { initContainers: [ours.container], containers: [{ name: 'app', image: 'y' }], ...part },
      }),
    ),
  ),
);

test('pods with odd items of the downward API', async (t) => {
  const answers = new Answers();
  await underAttack(t, async ({ server, signal }) => {
    for (const body of bodies) answers.add(await send(server, '/mutate', body));
    await hammer(10, signal, async (index, round) => {
      const answer = await send(
        server,
        '/mutate',
        bodies[(index + 10 * round) % bodies.length] ?? '',
        signal,
      );
      // the end of the attack cuts the last requests off
      if (!signal.aborted) answers.add(answer);
    });
  });
  answers.onlyOf(t, [200, 400]);
  assert.ok(answers.count(200) > 0 && answers.count(400) > 0);
});
