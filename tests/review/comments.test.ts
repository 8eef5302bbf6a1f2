import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffLines, reviewText } from './support.ts';

/** The removed lines. */
const gone = (before: string, after: string): string[] =>
  diffLines(before, after)
    .filter((line) => line.startsWith('-'))
    .map((line) => line.slice(1));

/** What stands between two texts. */
const between = (text: string, from: string, to: string): string =>
  text.slice(text.indexOf(from) + from.length, text.indexOf(to, text.indexOf(from)));

const commented = `apiVersion: v1
kind: Pod
metadata:
  name: a
  labels:
    app: a
    # ends the labels

    # and this as well
  annotations:
    x: "1" # of x
    # above y
    y: "2"  # of y
    # ends the annotations
spec:
  initContainers:
    # above wait
    - { name: wait, image: "w:1" } # of wait
    # above migrate
    - { name: migrate, image: "m:1" }  # of migrate
    # ends the list
  containers:
    - name: app
      image: app:1
      # ends app
    # ends the containers
  # ends spec
# ends the pod
`;

test('comments in a map or list and at its end stay in place', async (t) => {
  const output = (await reviewText(t, commented, { profile: 'cilium' })).yaml();
  assert.deepEqual(gone(commented, output), []);
  assert.match(
    output,
    /\n {4}app: a\n {4}# ends the labels\n\n {4}# and this as well\n {4}cni-gate\.io\/profile: cilium\n/,
  );
  assert.match(output, /\n {4}y: "2" {2}# of y\n {4}# ends the annotations\n {4}cni-gate\.io\/status: /);
  // ours comes first, and before the comment above the container that was first
  assert.match(
    between(output, 'initContainers:\n', '  containers:'),
    /^ {4}- name: cni-gate-validator\n(?: {6}.*\n)+ {4}# above wait\n {4}- \{ name: wait, image: "w:1" \} # of wait\n/,
  );
  assert.match(output, /\n {6}# ends app\n {4}# ends the containers\n {2}# ends spec\n# ends the pod\n$/);
});

test('the output reviewed again is current; removing the injection leaves the comments', async (t) => {
  const output = (await reviewText(t, commented, { profile: 'cilium' })).yaml();
  const again = await reviewText(t, output, { profile: 'cilium' });
  assert.equal(again.summary.current, 1);
  assert.equal(again.yaml(), output);
  const removed = await reviewText(t, output, { profile: 'linkerd' });
  assert.equal(removed.summary.removed, 1);
  const text = removed.yaml();
  for (const comment of commented.match(/#.*/g) ?? []) assert.ok(text.includes(comment), comment);
  assert.equal(
    between(text, 'initContainers:\n', '  containers:'),
    between(commented, 'initContainers:\n', '  containers:'),
  );
});

test('what changes in braces and brackets is written in lines, and comments around it stay', async (t) => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: a,
  annotations: {x: z}} # the end
spec:
  initContainers: [{name: one},
    {name: two},
  ]
  containers: [{name: app, image: a}] # the containers
`;
  const output = (await reviewText(t, text, { profile: 'cilium' })).yaml();
  assert.match(
    output,
    /\nmetadata: # the end\n {2}name: a\n {2}annotations:\n {4}x: z\n {4}cni-gate\.io\/status: .*\n {2}labels:\n/,
  );
  assert.match(
    output,
    /\n {2}initContainers:\n {4}- name: cni-gate-validator\n[\s\S]* {4}- name: one\n {4}- name: two\n/,
  );
  assert.match(output, /\n {2}containers: \[\{name: app, image: a\}\] # the containers\n$/);
});

test("comments in the column of a list's key stay with the next key", async (t) => {
  const text = `apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  imagePullSecrets:
  - name: mine
    # of mine
  # about the containers
  containers:
  - name: app
    image: a
`;
  const config =
    'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {imagePullSecrets: [theirs]}\n';
  const output = (await reviewText(t, text, { profile: 'cilium', config })).yaml();
  assert.match(
    output,
    /- name: mine\n {4}# of mine\n {2}- name: theirs\n {2}# about the containers\n {2}containers:/,
  );
});

test('a quoted key "<<" stays quoted, also in a rewritten document', async (t) => {
  const inPlace =
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {"<<": x}}\nspec: {containers: [{name: app, image: a}]}\n';
  const expanded = `apiVersion: v1
kind: Pod
metadata: &metadata
  name: a
  annotations: {"<<": x, '<<<': z}
  labels: &labels {app: a}
x: {<<: *labels, more: 1}
again: *metadata
spec: {containers: [{name: app, image: a}]}
`;
  for (const text of [inPlace, expanded]) {
    const output = (await reviewText(t, text, { profile: 'cilium' })).yaml();
    assert.match(output, /annotations:\s+"<<": x/);
    assert.equal((await reviewText(t, output, { profile: 'cilium' })).summary.current, 1);
  }
});

test('JSON with escapes and layouts that YAML lacks is patched', async (t) => {
  const json =
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a\\ud83d\\ude00","annotations":{"<<":"x"}},"spec":{"containers":[{"name":"app","image":"a"}]}}\n';
  const output = (await reviewText(t, json, { profile: 'cilium' })).yaml();
  assert.match(
    output,
    /^\{"apiVersion":"v1","kind":"Pod","metadata":\{"name":"a😀","annotations":\{"<<":"x","cni-gate/,
  );
  const lines = json.replace('"metadata":', '"metadata"\n:');
  const anew = JSON.parse((await reviewText(t, lines, { profile: 'cilium' })).yaml());
  assert.deepEqual(anew, JSON.parse(output));
});

test('a malformed list of networks is a warning; an invalid quantity does not cause endless updates', async (t) => {
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations: {k8s.v1.cni.cncf.io/networks: '[{"name": "storage"'}
spec:
  containers:
    - {name: app, image: a, resources: {requests: {cpu: 1OOm}, limits: {cpu: 1OOm, memory: lots}}}
`;
  const reviewed = await reviewText(t, text, { profile: 'cilium.multus' });
  assert.match(
    reviewed.json().workloads[0]?.warnings[0] ?? '',
    /^k8s\.v1\.cni\.cncf\.io\/networks is neither/,
  );
  const again = await reviewText(t, reviewed.yaml(), { profile: 'cilium.multus' });
  assert.deepEqual(again.reported, ['current promised Pod default/a']);
});

test('null annotations and labels count as absent', async (t) => {
  const text = `apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {cni-gate.io/profile: cilium, team: ~}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: , annotations: ~}
spec:
  template:
    metadata:
      annotations:
      labels: ~
    spec:
      containers: [{name: app, image: a}]
`;
  const { reported, faults } = await reviewText(t, text);
  assert.deepEqual(faults, []);
  assert.deepEqual(reported, ['injected promised Deployment shop/web']);
});

test('a duplicate key is an error in a reviewed object, and ignored in others', async (t) => {
  const twice = (kind: string): string =>
    `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a}\nmetadata: {name: b}\nspec: {containers: [{name: app, image: a}]}\n`;
  const other = await reviewText(t, twice('ConfigMap'), { profile: 'cilium' });
  assert.deepEqual(other.faults, []);
  const { faults } = await reviewText(t, twice('Pod'), { profile: 'cilium' });
  assert.deepEqual(faults, ['4: the key "metadata" occurs twice: is a "---" missing before it?']);
  // a pod that a ConfigMap without a marker follows is lost
  const lost = await reviewText(t, `${twice('Pod')}kind: ConfigMap\n`, { profile: 'cilium' });
  assert.equal(lost.faults.length, 1);
});
