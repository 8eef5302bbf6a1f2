import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Operation } from 'fast-json-patch';
import type { Decision } from '../../../webhook/admission/decide-injection.ts';
import { applyOnce } from '../../../webhook/admission/mutate.ts';
import { respond } from '../../../webhook/admission/respond.ts';
import type { Pod } from '../../../webhook/core/facts/pod.ts';
import { policyOf } from '../../support/configurations.ts';

const pod = (): Pod => ({ metadata: { name: 'a' }, spec: { containers: [{ name: 'app' }] } });

const deciding = (operation: Operation): Decision => ({
  outcome: 'injected',
  reason: 'profile-applies',
  profile: 'cilium',
  profiles: ['cilium'],
  operations: [operation],
  warnings: ['reported before'],
});

const doesNotApply: [Operation, RegExp][] = [
  [{ op: 'add', path: '/spec/containers/7', value: {} }, /index MUST NOT be greater/],
  [{ op: 'add', path: '/metadata/labels/a', value: 'b' }, /Cannot perform/],
  [{ op: 'remove', path: '/spec/volumes' }, /Cannot perform/],
  [{ op: 'add', path: '/__proto__/a', value: 'b' }, /banned for security reasons/],
];

suite('a patch is applied before it is sent', () => {
  for (const [operation, cause] of doesNotApply) {
    test(`one that does not (${operation.path}): a refusal without a patch`, () => {
      const { response } = respond('uid-1', applyOnce(deciding(operation), pod(), policyOf()));
      assert.deepEqual([response.allowed, response.patch, response.status?.code], [false, undefined, 403]);
      const message = response.status?.message ?? '';
      // one line: the pod does not belong in the text
      assert.match(
        message,
        /^the patch for this pod does not apply, so it was not sent: .* \(CNI_GATE_PATCH_FAILED\)$/,
      );
      assert.match(message, cause);
    });
  }

  test('proof.mode warn: a warning', () => {
    const warns = policyOf({ proof: { mode: 'warn' } });
    const { response } = respond(
      'uid-1',
      applyOnce(deciding({ op: 'remove', path: '/spec/volumes' }), pod(), warns),
    );
    assert.deepEqual([response.allowed, response.patch, response.warnings?.length], [true, undefined, 1]);
    assert.match(
      response.warnings?.[0] ?? '',
      /^CNI_GATE_PATCH_FAILED: the patch for this pod does not apply/,
    );
  });
});
