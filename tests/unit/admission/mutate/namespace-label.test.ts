import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { reviewNamespace } from '../../../../webhook/admission/mutate/namespace-label.ts';
import { respond } from '../../../../webhook/admission/respond.ts';
import { policyOf } from '../../../support/configurations.ts';
import { namespaceReview, namespaceWith } from '../../../support/namespace-reviews.ts';

const strict = policyOf();
const list = 'the configuration has: aws-vpc-cni, cilium, istio-ambient, istio, linkerd, multus';
const page = 'https://github.com/cni-gate/cni-gate/blob/main/docs/reference/errors.md#';
const refused = 'no pod can be created in namespace shop while its label cni-gate.io/profile is wrong';

function warningsFor(label: unknown, policy = strict): string[] {
  const { request, decision } = reviewNamespace(namespaceReview(namespaceWith(label)), policy);
  const { response } = respond(request.uid, decision);
  assert.equal(response.allowed, true);
  assert.equal(response.patch, undefined);
  return response.warnings ?? [];
}

suite('a label that is wrong', () => {
  test('an unknown profile: suggestions and a list of profiles', () => {
    assert.deepEqual(warningsFor('likerd'), [
      'CNI_GATE_PROFILE_UNKNOWN: profile "likerd" does not exist: did you mean linkerd?',
      list,
      refused,
      `see ${page}cni_gate_profile_unknown`,
    ]);
    assert.deepEqual(warningsFor('cilium.nowhere').slice(0, 2), [
      'CNI_GATE_PROFILE_UNKNOWN: profile "nowhere" of "cilium.nowhere" does not exist',
      list,
    ]);
  });

  test('profiles that cannot be combined: a warning', () => {
    assert.deepEqual(warningsFor('cilium.cilium'), [
      'CNI_GATE_PROFILE_COMBINATION: profile "cilium.cilium" names a profile twice',
      refused,
      `see ${page}cni_gate_profile_combination`,
    ]);
  });

  test('proof.mode warn: the warning names the effect', () => {
    const warns = policyOf({ proof: { mode: 'warn' } });
    assert.ok(
      warningsFor('likerd', warns).includes(
        'pods are created without a proof in namespace shop while its label cni-gate.io/profile is wrong',
      ),
    );
  });
});

test('a valid, empty or absent label: no warning', () => {
  for (const label of ['linkerd', 'cilium.linkerd', 'none', '', undefined]) {
    assert.deepEqual(warningsFor(label), [], String(label));
  }
  assert.deepEqual(warningsFor('mine', policyOf({ profiles: [{ name: 'mine' }] })), []);
});
