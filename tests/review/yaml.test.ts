import assert from 'node:assert/strict';
import { test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { version } from '../../webhook/lib/version.ts';
import { diffLines, namespaceOf, pod, readYaml, reviewFiles, reviewText } from './support.ts';

/** The lines that a change takes away, and those that it adds. */
function changes(before: string, after: string): { gone: string[]; added: string[] } {
  const lines = diffLines(before, after);
  const of = (sign: string): string[] =>
    lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
  return { gone: of('-'), added: of('+') };
}

/** Everything a stringifier would write in another way. */
const peculiar = `# a comment before all
%YAML 1.1
---
# Source: shop/templates/web.yaml
apiVersion:   "apps/v1"  # why not
kind: 'Deployment'


metadata: { namespace: shop,   name: web }
spec:
    replicas: 0x2
    template:
        spec:
            terminationGracePeriodSeconds: 1e1
            initContainers:
            # waits for the database
            - name: wait   # first
              args: [ "a" , 'b',c ]

            # then migrates
            - name: "migrate"
              env:
              - {name: EMPTY, value: ~}
              - name: LONG
                value: a plain scalar
                  that goes on
              - name: SCRIPT
                value: |+
                  #!/bin/sh
                  : keep

            containers:
            - name: web
              image: >-
                web:1.10
            volumes:
            - name: v
              secret: {secretName: s, defaultMode: 0644}
        metadata:
            annotations:
                since: 2026-11-21
                "quoted": "\\u00e9"
                # the last comment
    paused: no
...
---
kind: ConfigMap
apiVersion: v1
data: {mode: 0644, version: 1.10, on: yes, none: ~, at: 12:30:45}
# the end`;

test('the YAML output is the input with lines added', async (t) => {
  const reviewed = await reviewText(t, peculiar, { profile: 'cilium' });
  assert.equal(reviewed.summary.injected, 1);
  const output = reviewed.yaml();
  const { gone, added } = changes(`${peculiar}\n`, output);
  assert.deepEqual(gone, []);
  assert.equal(added[0], '            - name: cni-gate-validator');
  assert.match(output, /initContainers:\n {12}- name: cni-gate-validator\n/);
  // the comment stays with the container that it is about
  assert.match(output, /\n {12}# waits for the database\n {12}- name: wait {3}# first\n/);
  const document = output.split('\n---\n')[1] ?? '';
  const before = readYaml(peculiar.split('\n---\n')[1] ?? '');
  const patch = reviewed.json().workloads[0]?.patch as Operation[];
  assert.deepEqual(readYaml(document), jsonpatch.applyPatch(before, patch, true).newDocument);
});

/** The mark of a reviewed pod to which no profile applies. */
const acquitted = `{"version":"${version}","profile":"linkerd","chosenBy":"namespace","profiles":[],"checks":[]}`;

test('the output reviewed again is current; removing the injection restores the input', async (t) => {
  const injected = (await reviewText(t, peculiar, { profile: 'cilium' })).yaml();
  const again = await reviewText(t, injected, { profile: 'cilium' });
  assert.equal(again.summary.current, 1);
  assert.equal(again.yaml(), injected);
  const removed = await reviewText(t, injected, { profile: 'linkerd' });
  assert.equal(removed.summary.removed, 1);
  assert.deepEqual(changes(`${peculiar}\n`, removed.yaml()), {
    gone: [],
    added: [`                cni-gate.io/status: '${acquitted}'`, '            labels: {}'],
  });
});

test('Windows line ends stay', async (t) => {
  const text = pod('a').replaceAll('\n', '\r\n');
  const output = (await reviewText(t, text, { profile: 'cilium' })).yaml();
  assert.match(output, /cni-gate-validator/);
  assert.doesNotMatch(output, /[^\r]\n/);
});

test('empty and missing fields are filled in place', async (t) => {
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations: # none so far
  labels: {}   # none either
spec:
  initContainers: [] # nor here
  containers: [{name: app, image: app}]
`;
  const output = (await reviewText(t, text, { profile: 'cilium' })).yaml();
  assert.match(output, /\n {2}annotations: # none so far\n {4}cni-gate\.io\/status: '/);
  assert.match(output, /\n {2}labels: {3}# none either\n {4}cni-gate\.io\/profile: cilium\n/);
  assert.match(output, /\n {2}initContainers: # nor here\n {4}- name: cni-gate-validator\n/);
  assert.equal((await reviewText(t, output, { profile: 'cilium' })).summary.current, 1);
});

test('a merged value is written in its place', async (t) => {
  const config = `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
profiles:
  - name: storage
    annotations: {k8s.v1.cni.cncf.io/networks: ring}
    daemonSets: []
    proof: {checks: [{interfaces: {timeout: 5s}}]}
`;
  const annotated = (value: string) =>
    pod('a').replace(
      'spec:',
      `  annotations:\n    k8s.v1.cni.cncf.io/networks: ${value}\n    z: last\nspec:`,
    );
  for (const value of ['uplink # mine', '>-\n      uplink', '"uplink" # mine']) {
    const output = (await reviewText(t, annotated(value), { profile: 'storage', config })).yaml();
    const comment = value.includes('#') ? ' # mine' : '';
    assert.ok(
      output.includes(`\n    k8s.v1.cni.cncf.io/networks: uplink, ring${comment}\n    z: last\n`),
      output,
    );
  }
});

test('documents keep their order, with a line of dashes between', async (t) => {
  const { yaml } = await reviewFiles(
    t,
    {
      'a.yaml': `# a\n${namespaceOf('shop', 'cilium')}---\n# nothing here\n---\n${pod('a')}`,
      'b.json': '{"apiVersion": "v1", "kind": "Secret", "data": {"x": 1.10}}\n{"kind": "None"}',
      'c.yml': `---\n${namespaceOf('x', 'y')}`,
    },
    {},
  );
  const documents = yaml().split(/^---\n/m);
  assert.equal(documents.length, 6);
  assert.equal(documents[0], `# a\n${namespaceOf('shop', 'cilium')}`);
  assert.equal(documents[1], '# nothing here\n');
  assert.match(documents[2] ?? '', /cni-gate-validator/);
  assert.equal(documents[3], '{"apiVersion": "v1", "kind": "Secret", "data": {"x": 1.10}}\n');
  assert.equal(documents[4], '{"kind": "None"}\n');
  assert.equal(documents[5], namespaceOf('x', 'y'));
});

test('JSON stays JSON, in one line or in many', async (t) => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', labels: {} },
    spec: { containers: [{ name: 'app' }], initContainers: [{ name: 'one' }, { name: 'two' }] },
  };
  for (const indent of [undefined, 2, 4, '\t']) {
    const text = JSON.stringify(object, null, indent);
    const reviewed = await reviewFiles(t, { 'a.json': text }, { profile: 'cilium' });
    const output = reviewed.yaml();
    const names = JSON.parse(output).spec.initContainers.map((container: { name: string }) => container.name);
    assert.deepEqual(names, ['cni-gate-validator', 'one', 'two']);
    assert.equal(output, `${JSON.stringify(JSON.parse(output), null, indent)}\n`);
  }
});

test('removing an injection from JSON leaves the rest unchanged', async (t) => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, name: 'a' },
    spec: { containers: [{ name: 'app' }], initContainers: [{ name: 'one' }] },
  };
  const text = `${JSON.stringify(object, null, 2)}\n`;
  const injected = (await reviewText(t, text, { profile: 'cilium' })).yaml();
  assert.match(injected, /cni-gate-validator/);
  const removed = await reviewText(t, injected, { profile: 'linkerd' });
  assert.equal(removed.summary.removed, 1);
  assert.equal(removed.yaml().replace(/,\s*"cni-gate\.io\/status": "(?:\\.|[^"\\])*"/, ''), text);
});
