import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Policy } from '../../../webhook/config/policy.ts';
import { policyOf, refusal } from '../../support/configurations.ts';

/** What the gate goes by, for each profile. */
const of = (policy: Policy): Record<string, string> =>
  Object.fromEntries([...policy.profiles].map(([name, profile]) => [name, policy.evidenceOf(profile)]));

suite('gate.evidence', () => {
  test('absent: proof for the networks whose DaemonSets have no readiness probe', () => {
    assert.deepEqual(of(policyOf({ profiles: [{ name: 'own' }] })), {
      'aws-vpc-cni': 'ready',
      cilium: 'ready',
      istio: 'ready',
      'istio-ambient': 'ready',
      linkerd: 'proof',
      multus: 'proof',
      own: 'ready',
    });
  });

  test('applies to the built-in profiles, and to others that set none', () => {
    const profiles = [{ name: 'own' }, { name: 'strict', evidence: 'proof' }];
    const found = of(policyOf({ gate: { evidence: 'ready' }, profiles }));
    assert.deepEqual([found.linkerd, found.own, found.strict], ['ready', 'ready', 'proof']);
    const all = of(policyOf({ gate: { evidence: 'proof' }, profiles: [{ name: 'own' }] }));
    assert.deepEqual(new Set(Object.values(all)), new Set(['proof']));
    // the built-in profiles themselves did not change
    assert.equal(of(policyOf()).cilium, 'ready');
  });

  test('other values are refused', () => {
    assert.match(refusal('gate: {evidence: maybe}\n'), /gate\.evidence/);
    assert.match(refusal('profiles: [{name: own, evidence: maybe}]\n'), /profiles\[0\]\.evidence/);
  });
});
