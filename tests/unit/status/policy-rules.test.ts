import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { installedPolicies } from '../../../webhook/lib/names.ts';
import {
  type ApiPolicySpec,
  conditionDigests,
  expectedPolicies,
  policyDigest,
} from '../../../webhook/status/installation/policy-rules.ts';

const files = {
  'pods.cni-gate.io': 'policy-pods.yaml',
  'service-account.cni-gate.io': 'policy-service-account.yaml',
};

/** The policy in a file of manifests/base. */
function specOf(name: (typeof installedPolicies)[number]): ApiPolicySpec {
  const text = readFileSync(new URL(`../../../manifests/base/${files[name]}`, import.meta.url), 'utf8');
  const [policy] = parseAllDocuments(text).map((document) => document.toJS());
  assert.deepEqual([policy.kind, policy.metadata.name], ['ValidatingAdmissionPolicy', name]);
  return policy.spec;
}

for (const name of installedPolicies) {
  test(`the digests of ${name} are those of the manifests`, () => {
    const spec = specOf(name);
    const now = { digest: policyDigest(spec), conditions: conditionDigests(spec) };
    assert.deepEqual(expectedPolicies[name], now, 'policy-rules.ts needs the second of these');
  });
}

suite('the digest of a policy', () => {
  const spec = specOf('pods.cni-gate.io');
  const before = policyDigest(spec);

  test('does not change with what the API server fills in', () => {
    const { matchConstraints } = spec;
    const stored = {
      ...spec,
      matchConstraints: { ...matchConstraints, matchPolicy: 'Equivalent', objectSelector: {} },
    };
    assert.equal(policyDigest(stored), before);
    const account = specOf('service-account.cni-gate.io');
    const scoped = (rules: object[] | null | undefined): object[] =>
      (rules ?? []).map((rule) => ({ ...rule, scope: '*' }));
    const { resourceRules, excludeResourceRules } = account.matchConstraints ?? {};
    const filled = {
      ...account,
      matchConstraints: {
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: scoped(resourceRules),
        excludeResourceRules: scoped(excludeResourceRules),
      },
    };
    assert.equal(policyDigest(filled), policyDigest(account));
  });

  const [first, ...validations] = spec.validations ?? [];
  const changes: Record<string, ApiPolicySpec> = {
    'a rule that is missing': { ...spec, validations },
    'a rule that always holds': { ...spec, validations: [{ ...first, expression: 'true' }, ...validations] },
    'a variable with another value': { ...spec, variables: [{ name: 'status', expression: "'x'" }] },
    'another kind of objects': {
      ...spec,
      matchConstraints: { ...spec.matchConstraints, resourceRules: [{ resources: ['nodes'] }] },
    },
    'namespaces that are left out': {
      ...spec,
      matchConstraints: {
        ...spec.matchConstraints,
        namespaceSelector: { matchLabels: { checked: 'yes' } },
      },
    },
  };
  for (const [name, changed] of Object.entries(changes)) {
    test(`changes with ${name}`, () => assert.notEqual(policyDigest(changed), before));
  }

  test('does not depend on the texts of messages', () => {
    const silent = (spec.validations ?? []).map(({ expression }) => ({ expression, message: 'no' }));
    assert.equal(policyDigest({ ...spec, validations: silent }), before);
  });
});
