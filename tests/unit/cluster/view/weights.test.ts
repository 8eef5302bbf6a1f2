import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { weightOfEvidence } from '../../../../webhook/cluster/view/weights.ts';
import { evidencePods } from '../../../../webhook/lib/limits.ts';
import type { NodeRequired } from '../../../../webhook/nodes/evidence/facts.ts';
import { failedPod } from '../../leader/recreate/support.ts';

suite('the estimated memory of a verdict', () => {
  const weigh = (kind?: string): number => {
    const required: NodeRequired = { constraints: {}, tolerations: [], kind: kind ?? '', hasVolumes: false };
    return weightOfEvidence(failedPod({ name: 'web-1', ...(kind !== undefined && { required }) }));
  };

  test('does not grow by what an ordinary failed pod requires of a node: pods share it', () => {
    assert.equal(weigh(JSON.stringify([['cilium'], { a: [{ key: 'x'.repeat(300) }] }])), weigh());
  });

  test('grows by what a pod requires beyond that', () => {
    assert.ok(weigh('x'.repeat(evidencePods.requiredCharacters)) - weigh() > evidencePods.requiredCharacters);
  });
});
