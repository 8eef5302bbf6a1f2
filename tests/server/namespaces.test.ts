import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceReview, namespaceWith } from '../support/namespace-reviews.ts';
import { startServer } from '../support/running-server.ts';

test('POST /namespaces warns about a label with an unknown profile, logs and counts it', async (t) => {
  const server = await startServer(t);
  const ask = async (label: unknown) => {
    const { status, body } = await server.post(
      '/namespaces',
      JSON.stringify(namespaceReview(namespaceWith(label))),
    );
    assert.equal(status, 200, body);
    return JSON.parse(body).response;
  };
  const typo = await ask('likerd');
  assert.equal(typo.allowed, true);
  assert.deepEqual(typo.warnings, [
    'CNI_GATE_PROFILE_UNKNOWN: profile "likerd" does not exist (did you mean "linkerd"?); the configuration has: antrea…',
    'no pod can be created in namespace shop while its label cni-gate.io/profile is wrong',
    'see https://github.com/cni-gate/cni-gate/blob/main/docs/reference/errors.md#cni_gate_profile_unknown',
  ]);
  assert.deepEqual(typo.auditAnnotations, { outcome: 'warned', reason: 'CNI_GATE_PROFILE_UNKNOWN' });
  const right = await ask('linkerd');
  assert.equal(right.allowed, true);
  assert.equal(right.warnings, undefined);

  const line = server.lines.find(({ webhook }) => webhook === 'namespaces');
  assert.equal(line?.namespace, 'shop');
  assert.ok(line !== undefined && !('pod' in line));
  const metrics = (await server.ops('/metrics')).body;
  for (const labels of [
    'profile="",outcome="warned",reason="CNI_GATE_PROFILE_UNKNOWN"',
    'profile="linkerd",outcome="allowed",reason="profile-known"',
  ]) {
    assert.ok(
      metrics.includes(`cni_gate_admission_reviews_total{webhook="namespaces",${labels}} 1\n`),
      labels,
    );
  }
});
