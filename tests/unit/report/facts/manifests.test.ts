import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { installedPolicies, installedWebhooks } from '../../../../webhook/lib/names.ts';
import {
  changesOf,
  expectedPolicies,
  expectedWebhooks,
} from '../../../../webhook/report/checks/manifests.ts';
import {
  type ApiPolicySpec,
  type ApiWebhookRules,
  conditionDigests,
  policyDigest,
  webhookRules,
} from '../../../../webhook/report/facts/digests.ts';

/* Webhooks and policies are compared with the manifests by digests. */

type Webhook = ApiWebhookRules & { name: string };
type Kind = keyof typeof installedWebhooks;

const manifests = fileURLToPath(new URL('../../../../manifests/', import.meta.url));
const webhooksOf = (kind: Kind): Webhook[] =>
  parse(readFileSync(`${manifests}base/${kind}-webhook.yaml`, 'utf8')).webhooks;
const kinds: Kind[] = ['mutating', 'validating'];

for (const kind of kinds)
  test(`what is expected of ${kind} webhooks is what the manifests register`, () => {
    const seen = webhooksOf(kind).map((webhook) => [webhook.name, webhookRules(webhook)]);
    const expected = installedWebhooks[kind].map((name) => [name, expectedWebhooks[name]]);
    assert.deepEqual(expected, seen, 'checks/manifests.ts needs the second of these');
  });

const files = {
  'pods.cni-gate.io': 'policy-pods.yaml',
  'service-account.cni-gate.io': 'policy-service-account.yaml',
};

/** The policy in a file of manifests/base. */
function specOf(name: (typeof installedPolicies)[number]): ApiPolicySpec {
  const text = readFileSync(`${manifests}base/${files[name]}`, 'utf8');
  const [policy] = parseAllDocuments(text).map((document) => document.toJS());
  assert.deepEqual([policy.kind, policy.metadata.name], ['ValidatingAdmissionPolicy', name]);
  return policy.spec;
}

for (const name of installedPolicies)
  test(`the digests of ${name} are those of the manifests`, () => {
    const spec = specOf(name);
    const seen = { digest: policyDigest(spec), conditions: conditionDigests(spec) };
    assert.deepEqual(expectedPolicies[name], seen, 'checks/manifests.ts needs the second of these');
  });

interface Manifest {
  kind?: string;
  webhooks?: object[];
  patches?: { target?: { kind?: string }; patch?: string }[];
}

test('overlays and components change nothing that is compared, except that they remove conditions', () => {
  const paths = globSync('{overlays,components,compose}/**/*.yaml', { cwd: manifests });
  const documents = paths.flatMap((file) =>
    parseAllDocuments(readFileSync(`${manifests}${file}`, 'utf8')).map(
      (document): Manifest => document.toJS() ?? {},
    ),
  );
  const configurations = documents.filter(({ kind }) => kind?.endsWith('WebhookConfiguration'));
  assert.ok(configurations.length >= 3, 'the patches were not found');
  const fields = configurations.flatMap(({ webhooks }) => (webhooks ?? []).flatMap(Object.keys));
  assert.deepEqual(
    fields.filter((field) => !['name', 'failurePolicy'].includes(field)),
    [],
  );
  const inline = documents
    .flatMap(({ patches }) => patches ?? [])
    .filter(({ target }) => target?.kind?.endsWith('WebhookConfiguration'));
  const operations = inline.flatMap(({ patch }) => parse(patch ?? ''));
  assert.ok(operations.length > 0, 'the component no-opt-out was not found');
  for (const { op, path } of operations)
    assert.ok(op === 'test' || (op === 'remove' && /\/matchConditions\/\d+$/.test(path)), `${op} ${path}`);
});

const webhookNamed = (name: string): Webhook => {
  const webhook = kinds.flatMap(webhooksOf).find((one) => one.name === name);
  assert.ok(webhook, name);
  return webhook;
};
const pods = webhookNamed('pods.cni-gate.io');
const changed = (more: object): ReturnType<typeof changesOf> =>
  changesOf('pods.cni-gate.io', webhookRules({ ...pods, ...more }));

suite('no difference of a webhook', () => {
  const cases: Record<string, object> = {
    'what the API server fills in': { objectSelector: {}, matchPolicy: 'Equivalent' },
    'an empty field in place of a missing one': { objectSelector: null, matchPolicy: null },
    'a failurePolicy and a timeout of ones own': { failurePolicy: 'Ignore', timeoutSeconds: 5 },
    'a condition that the component no-opt-out takes away': {
      matchConditions: pods.matchConditions?.filter(({ name }) => name !== 'not-opted-out'),
    },
    'a URL, with any path': { clientConfig: { url: 'https://gate.example/somewhere' } },
    'what Azure Kubernetes Service writes into every namespaceSelector': {
      namespaceSelector: {
        matchExpressions: [
          { key: 'kubernetes.azure.com/managedby', operator: 'NotIn', values: ['aks'] },
          { key: 'control-plane', operator: 'NotIn', values: ['true'] },
          { key: 'control-plane', operator: 'DoesNotExist' },
          ...(pods.namespaceSelector?.matchExpressions ?? []),
        ],
      },
    },
  };
  for (const [name, more] of Object.entries(cases)) test(name, () => assert.deepEqual(changed(more), []));
});

test('a rule without a scope equals one with the default scope', () => {
  const rules = (scope: object): string =>
    webhookRules({ ...pods, rules: [{ resources: ['pods'], ...scope }] }).rules;
  assert.equal(rules({}), rules({ scope: '*' }));
  assert.notEqual(rules({}), rules({ scope: 'Cluster' }));
});

suite('a difference of a webhook', () => {
  const never = { matchLabels: { on: 'nothing' } };
  const cases: [field: string, more: object][] = [
    ['objectSelector', { objectSelector: never }],
    ['namespaceSelector', { namespaceSelector: never }],
    ['matchConditions (never)', { matchConditions: [{ name: 'never', expression: 'false' }] }],
    ['rules', { rules: pods.rules?.map((rule) => ({ ...rule, operations: ['DELETE'] })) }],
    ['clientConfig.service.path', { clientConfig: { service: { path: '/nope' } } }],
    ['matchPolicy', { matchPolicy: 'Exact' }],
    ['reinvocationPolicy', { reinvocationPolicy: 'Never' }],
  ];
  for (const [field, more] of cases) test(field, () => assert.deepEqual(changed(more), [field]));
});

suite('the digest of a policy', () => {
  const spec = specOf('pods.cni-gate.io');
  const digest = policyDigest(spec);

  test('does not change with what the API server fills in', () => {
    const constraints = { ...spec.matchConstraints, matchPolicy: 'Equivalent', objectSelector: {} };
    assert.equal(policyDigest({ ...spec, matchConstraints: constraints }), digest);
  });

  const [first, ...validations] = spec.validations ?? [];
  const inConstraints = (more: object): ApiPolicySpec => ({
    ...spec,
    matchConstraints: { ...spec.matchConstraints, ...more },
  });
  const changes: Record<string, ApiPolicySpec> = {
    'a rule that is missing': { ...spec, validations },
    'a rule that always holds': { ...spec, validations: [{ ...first, expression: 'true' }, ...validations] },
    'a variable with another value': { ...spec, variables: [{ name: 'status', expression: "'x'" }] },
    'another kind of objects': inConstraints({ resourceRules: [{ resources: ['nodes'] }] }),
    'namespaces that are left out': inConstraints({ namespaceSelector: { matchLabels: { on: 'yes' } } }),
  };
  for (const [name, other] of Object.entries(changes))
    test(`changes with ${name}`, () => assert.notEqual(policyDigest(other), digest));
});
