import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Decision } from '../../../../webhook/admission/mutate/decide.ts';
import { applyOnce } from '../../../../webhook/admission/mutate/mutate.ts';
import type { Pod } from '../../../../webhook/admission/pod.ts';
import { respond } from '../../../../webhook/admission/respond.ts';
import type { Operation } from '../../../../webhook/admission/review.ts';
import { policyOf } from '../../../support/configurations.ts';

const pod = (): Pod => ({ metadata: { name: 'a' }, spec: { containers: [{ name: 'app' }] } });

/** A decision that no code here makes, so that what guards against one can be seen at work. */
const deciding = (operations: Operation[]): Decision => ({
  outcome: 'injected',
  reason: 'promised',
  profile: 'cilium',
  profiles: ['cilium'],
  operations,
  warnings: ['reported before'],
});

const doesNotApply: [string, Operation[], RegExp][] = [
  [
    'an element behind the end',
    [{ op: 'add', path: '/spec/containers/7', value: {} }],
    /index MUST NOT be greater/,
  ],
  [
    'a key of a map that is not there',
    [{ op: 'add', path: '/metadata/labels/a', value: 'b' }],
    /Cannot perform/,
  ],
  ['nothing to take away', [{ op: 'remove', path: '/spec/volumes' }], /Cannot perform/],
  [
    'nothing to move',
    [{ op: 'move', from: '/spec/initContainers/1', path: '/spec/initContainers/0' }],
    /Cannot/,
  ],
  [
    'a key of the prototype',
    [{ op: 'add', path: '/__proto__/a', value: 'b' }],
    /banned for security reasons/,
  ],
];

suite('applyOnce', () => {
  test('a patch that applies: the decision does not change, and the pod is patched', () => {
    const decision = deciding([{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]);
    const patched = pod();
    assert.equal(applyOnce(decision, patched, policyOf()), decision);
    assert.deepEqual(patched.metadata.labels, { a: 'b' });
  });

  for (const [title, operations, cause] of doesNotApply) {
    test(`${title}: a refusal without a patch`, () => {
      const refused = applyOnce(deciding(operations), pod(), policyOf());
      assert.deepEqual(
        { ...refused, message: undefined },
        {
          outcome: 'refused',
          reason: 'CNI_GATE_PATCH_FAILED',
          profile: 'cilium',
          profiles: [],
          operations: [],
          warnings: [],
          message: undefined,
        },
      );
      assert.match(refused.message ?? '', /^the patch for this pod does not apply, so it was not sent: /);
      assert.match(refused.message ?? '', cause);
      assert.match(refused.message ?? '', / \(CNI_GATE_PATCH_FAILED\)$/);
      assert.doesNotMatch(refused.message ?? '', /\n/, 'the pod does not belong in the text');
      const { response } = respond('uid-1', refused);
      assert.equal(response.allowed, false);
      assert.deepEqual([response.patch, response.patchType], [undefined, undefined]);
      assert.deepEqual(response.status, { code: 403, reason: 'Forbidden', message: refused.message });
    });
  }

  test('proof.mode warn: a warning', () => {
    const operations: Operation[] = [{ op: 'remove', path: '/spec/volumes' }];
    const warned = applyOnce(deciding(operations), pod(), policyOf({ proof: { mode: 'warn' } }));
    assert.deepEqual([warned.outcome, warned.reason], ['warned', 'CNI_GATE_PATCH_FAILED']);
    const { response } = respond('uid-1', warned);
    assert.equal(response.allowed, true);
    assert.deepEqual(
      [response.patch, response.patchType, response.status],
      [undefined, undefined, undefined],
    );
    assert.equal(response.warnings?.length, 1);
    assert.match(
      response.warnings?.[0] ?? '',
      /^CNI_GATE_PATCH_FAILED: the patch for this pod does not apply/,
    );
  });
});
