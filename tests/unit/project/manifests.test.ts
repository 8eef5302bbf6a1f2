import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { matchConstraints } from '../../../webhook/core/policies/conditions.ts';
import { installedWebhooks, webhookConfiguration } from '../../../webhook/lib/names.ts';
import { serverImage, validatorImage } from '../../../webhook/lib/version.ts';

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read by their paths
const objects = (path: string): any[] => parseAllDocuments(text(path)).map((document) => document.toJS());

const [registration] = objects('manifests/base/mutating-webhook.yaml');
const [policy] = objects('manifests/base/policy-pods.yaml');
const [webhook] = registration.webhooks;

test('what is registered has the names that status looks for', () => {
  const [validating] = objects('manifests/base/validating-webhook.yaml');
  for (const [kind, found] of Object.entries({ mutating: registration, validating })) {
    assert.equal(found.metadata.name, webhookConfiguration);
    assert.deepEqual(
      found.webhooks.map(({ name }: { name: string }) => name),
      installedWebhooks[kind as keyof typeof installedWebhooks],
    );
  }
});

test('the webhook and the policy over pods select the same namespaces and pods', () => {
  assert.deepEqual(policy.spec.matchConstraints.namespaceSelector, webhook.namespaceSelector);
  const { scope, ...rule } = policy.spec.matchConstraints.resourceRules[0];
  assert.deepEqual([{ ...rule, scope }], webhook.rules);
  assert.deepEqual(policy.spec.matchConditions, webhook.matchConditions);
  assert.deepEqual(policy.spec.matchConstraints, matchConstraints);
});

// the API server can lose a policy's parameters until it restarts: kubernetes#130887
test('no policy and no binding has parameters', () => {
  for (const file of ['policy-pods', 'policy-service-account']) {
    const [{ spec }, binding] = objects(`manifests/base/${file}.yaml`);
    assert.deepEqual([spec.paramKind, binding.spec.paramRef], [undefined, undefined], file);
  }
});

test('the first image that the policy over pods accepts is the one of this release', () => {
  const [images] = policy.spec.variables;
  assert.deepEqual([images.name, images.expression], ['images', `['${validatorImage}']`]);
});

test('the gate is not called for mirror pods', () => {
  const [gate] = objects('manifests/base/validating-webhook.yaml');
  const placed = gate.webhooks.find(({ name }: { name: string }) => name === 'placed-pods.cni-gate.io');
  assert.deepEqual(placed.matchConditions[0], webhook.matchConditions[0]);
  assert.equal(placed.matchConditions[0].name, 'not-a-mirror-pod');
});

test('the Deployment runs the images of this release', () => {
  const [deployment] = objects('manifests/base/deployment.yaml');
  const { containers, initContainers } = deployment.spec.template.spec;
  assert.equal(containers[0].image, serverImage);
  assert.equal(initContainers[0].image, validatorImage);
});

const alerts = objects('manifests/components/monitoring/alerts.yaml').flatMap(({ spec }) =>
  spec.groups.flatMap(({ rules }: { rules: object[] }) => rules),
);

test('alerts use only metrics that exist', () => {
  const known = text('docs/reference/metrics.md');
  const asked = alerts.flatMap(({ expr }) => [...expr.matchAll(/cni_gate_\w+/g)].map(([name]) => name));
  assert.ok(asked.length > 0);
  for (const name of asked) assert.match(known, new RegExp(`^- \`${name.replace(/_bucket$/, '')}[\`{]`, 'm'));
});
