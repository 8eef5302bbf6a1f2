import assert from 'node:assert/strict';
import { test } from 'node:test';
import { respond } from '../../../webhook/admission/respond.ts';
import { reviewNamespace } from '../../../webhook/admission/review-namespace.ts';
import { policyOf } from '../../support/configurations.ts';
import { namespaceReview, namespaceWith } from '../../support/namespace-reviews.ts';

function warningsFor(label: unknown, policy = policyOf()): string[] {
  const { request, decision } = reviewNamespace(namespaceReview(namespaceWith(label)), policy);
  const { response } = respond(request.uid, decision);
  assert.equal(response.allowed, true);
  assert.equal(response.patch, undefined);
  return response.warnings ?? [];
}

test('a label that is wrong, with proof.mode warn: the warning names the effect', () => {
  const warns = policyOf({ proof: { mode: 'warn' } });
  assert.ok(
    warningsFor('likerd', warns).includes(
      'pods are created without a proof in namespace shop while its label cni-gate.io/profile is wrong',
    ),
  );
});

test('a valid, empty or absent label: no warning', () => {
  for (const label of ['linkerd', 'cilium.linkerd', 'none', '', undefined]) {
    assert.deepEqual(warningsFor(label), [], String(label));
  }
  assert.deepEqual(warningsFor('mine', policyOf({ profiles: [{ name: 'mine' }] })), []);
});
