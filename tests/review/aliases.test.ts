import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { type Reviewed, readYaml, reviewText } from './support.ts';

/** Asserts that the document of the only workload equals its patched value, with aliases expanded. */
function assertPatched(reviewed: Reviewed, text: string): void {
  const patch = reviewed.json().workloads[0]?.patch as Operation[];
  assert.ok(patch.length > 0);
  const before = JSON.parse(JSON.stringify(readYaml(text)));
  assert.deepEqual(readYaml(reviewed.yaml()), jsonpatch.applyPatch(before, patch, true).newDocument);
}

const deployment = (labels: string, template: string, selector = '{a: b}'): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: ${labels}
spec:
  selector:
    matchLabels: ${selector}
  template: # this
    ${template}
`;

const spec = `spec:
      containers:
        - name: web # the one
      volumes: [{name: v, secret: {secretName: s, defaultMode: 0644}}]`;

test('a patch of aliased labels: the alias is replaced by a copy, other users of the anchor do not change', async (t) => {
  const labels = `&labels
    # of all
    app: web
    version: "1.10"`;
  const text = deployment(labels, `metadata: {labels: *labels}\n    ${spec}`, '*labels');
  const block = text.replace('metadata: {labels: *labels}', 'metadata:\n      labels: *labels # again');
  const reviewed = await reviewText(t, block, { profile: 'cilium' });
  assertPatched(reviewed, block);
  const output = reviewed.yaml();
  assert.match(output, /matchLabels: \*labels\n/);
  assert.match(
    output,
    /\n {6}labels: # again\n {8}app: web\n {8}version: "1\.10"\n {8}cni-gate\.io\/profile: cilium\n/,
  );
  assert.match(output, /- name: web # the one\n/);
  assert.match(output, /defaultMode: 0644/);
});

test('an alias in braces, and an alias of braces, are patched', async (t) => {
  for (const labels of ['&labels {app: web}', '&labels\n    app: web']) {
    for (const metadata of ['{labels: *labels}', '\n      labels: *labels']) {
      const text = deployment(labels, `metadata: ${metadata}\n    ${spec}`);
      const reviewed = await reviewText(t, text, { profile: 'cilium' });
      assertPatched(reviewed, text);
      assert.match(reviewed.yaml(), /defaultMode: 0644/);
    }
  }
});

test('an anchor in the template that others use: the document is written without aliases', async (t) => {
  const text = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata:
      labels: &labels
        app: web # kept
    ${spec}
  selector: {matchLabels: *labels}
`;
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  assertPatched(reviewed, text);
  const output = reviewed.yaml();
  assert.match(output, /app: web # kept/);
  assert.match(output, /defaultMode: 0644/);
  // the diff shows what admission changes, not how the text was rewritten
  assert.doesNotMatch(reviewed.text(), /^-(?!--)/m);
});

test('a template from an alias or a merge key: only this workload is patched', async (t) => {
  const base = `x-base: &base
  metadata: &meta
    labels: {a: b}
  ${spec.replaceAll('\n      ', '\n    ')}
`;
  for (const template of [
    '*base',
    '{<<: *base}',
    '\n    <<: *base\n    other: 1',
    '{metadata: {<<: *meta}, spec: {containers: []}}',
  ]) {
    const text = `${base}apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template: ${template}\n`;
    const reviewed = await reviewText(t, text, { profile: 'cilium' });
    assert.deepEqual(reviewed.faults, []);
    assertPatched(reviewed, text);
    assert.match(reviewed.yaml(), /defaultMode: 0644/);
    assert.match(reviewed.yaml(), /- name: web # the one\n/);
  }
});

test('an alias outside of the patch stays', async (t) => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: one
      env: &env
        - {name: MODE, value: "0644"}
    - name: two
      env: *env
`;
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  assertPatched(reviewed, text);
  assert.match(reviewed.yaml(), /env: &env\n[\s\S]*env: \*env\n/);
});
