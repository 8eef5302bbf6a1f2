import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { valueAt } from '../../webhook/review/values.ts';
import { tables } from './manifests.ts';
import { namespaceOf, pod, type Reviewed, readYaml, reviewFiles, reviewText } from './support.ts';

const texts: Record<string, string> = tables('patched.yaml');

/** The value of a text after the patches of its workloads. Each alias becomes a copy of the value that it shares. */
function patchedValue(text: string, { report }: Reviewed): unknown {
  const value = JSON.parse(JSON.stringify(readYaml(text)));
  for (const { workload, decision } of report.reviewed) {
    const operations = structuredClone(decision.operations) as Operation[];
    assert.ok(operations.length > 0);
    jsonpatch.applyPatch(valueAt(value, workload.path), operations, true);
  }
  return value;
}

suite('the YAML output', () => {
  for (const [title, text] of Object.entries(texts)) {
    test(`${title}: has the patched value and all comments, is current when reviewed again, and loses only the injection`, async (t) => {
      const reviewed = await reviewText(t, text, { profile: 'cilium' });
      assert.deepEqual(reviewed.faults, []);
      const output = reviewed.yaml();
      assert.deepEqual(readYaml(output), patchedValue(text, reviewed));
      // `review` rewrites a map with a merge key from its values
      const kept = text.includes('<<') ? [] : (text.match(/#.*|\b0x\d+|\b1e1|\b0644|"quoted"|'b'/g) ?? []);
      for (const part of kept) assert.ok(output.includes(part), part);
      const again = await reviewText(t, output, { profile: 'cilium' });
      assert.equal(again.summary.current, reviewed.summary.injected);
      assert.equal(again.yaml(), output);
      const removed = await reviewText(t, output, { profile: 'linkerd' });
      assert.equal(removed.summary.removed, removed.summary.workloads);
      assert.doesNotMatch(removed.yaml(), /cni-gate-validator/);
      for (const part of kept) assert.ok(removed.yaml().includes(part), part);
    });
  }
});

test('comments stay where they are, and our container comes first', async (t) => {
  const text = texts['comments everywhere'] ?? '';
  const output = (await reviewText(t, text, { profile: 'cilium' })).yaml();
  for (const expected of [
    /\n {4}app: a\n {4}cni-gate\.io\/profile: cilium\n {4}# ends the labels\n\n {4}# and this as well\n/,
    /\n {4}# above y\n {4}y: "2" # of y\n {4}cni-gate\.io\/status: .*\n {4}# ends the annotations\n/,
    /initContainers:\n {4}- name: cni-gate-validator\n(?: {6}.*\n)+ {4}# above wait\n {4}- \{ name: wait, image: "w:1" \} # of wait\n/,
  ]) {
    assert.match(output, expected);
  }
  const braces = (await reviewText(t, texts['braces and brackets'] ?? '', { profile: 'cilium' })).yaml();
  assert.match(braces, /\nmetadata:\n {2}name: a\n {2}annotations:\n {4}x: z\n {4}cni-gate\.io\/status: /);
  assert.match(braces, /\n {2}containers: \[\{name: app, image: a\}\] # the containers\n/);
});

test('an annotation that is already set is changed in place', async (t) => {
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
  for (const value of ['uplink # mine', "'uplink' # mine"]) {
    const output = (await reviewText(t, annotated(value), { profile: 'storage', config })).yaml();
    const expected = `\n    k8s.v1.cni.cncf.io/networks: ${value.replace('uplink', 'uplink, ring')}\n    z: last\n`;
    assert.ok(output.includes(expected), output);
  }
});

test('documents keep their order, with a line of dashes between them', async (t) => {
  const { yaml } = await reviewFiles(t, {
    'a.yaml': `# a\n${namespaceOf('shop', 'cilium')}---\n# nothing here\n---\n${pod('a')}`,
    'b.json': '{"apiVersion": "v1", "kind": "Secret", "data": {"x": 1.10}}\n{"kind": "None"}',
    'c.yml': `---\n${namespaceOf('x', 'y')}`,
    'd.yml': '...\n# the end',
  });
  const documents = yaml().split(/^---\n/m);
  assert.match(documents.splice(2, 1)[0] ?? '', /cni-gate-validator/);
  assert.deepEqual(documents, [
    `# a\n${namespaceOf('shop', 'cilium')}`,
    '# nothing here\n',
    '{"apiVersion": "v1", "kind": "Secret", "data": {"x": 1.10}}\n',
    '{"kind": "None"}\n',
    `${namespaceOf('x', 'y')}...\n# the end`,
  ]);
});

test('the lines of a file with Windows line ends keep them', async (t) => {
  const output = (await reviewText(t, pod('a').replaceAll('\n', '\r\n'), { profile: 'cilium' })).yaml();
  assert.match(output, /cni-gate-validator\r\n/);
  assert.doesNotMatch(output, /[^\r]\n/);
});

test('JSON stays JSON, in one line or in many; removing the injection restores it', async (t) => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a\u{1f600}', labels: { 'cni-gate.io/profile': 'cilium' }, annotations: { '<<': 'x' } },
    spec: { containers: [{ name: 'app' }], initContainers: [{ name: 'one' }] },
  };
  for (const indent of [undefined, 2, 4, '\t']) {
    const text = `${JSON.stringify(object, null, indent)}\n`;
    const output = (await reviewFiles(t, { 'a.json': text }, { profile: 'cilium' })).yaml();
    const { initContainers } = JSON.parse(output).spec;
    assert.deepEqual(
      initContainers.map((container: { name: string }) => container.name),
      ['cni-gate-validator', 'one'],
    );
    assert.equal(output, `${JSON.stringify(JSON.parse(output), null, indent)}\n`);
  }
  // this layout is JSON that a YAML parser does not accept
  const lines = JSON.stringify(object).replace('"metadata":', '"metadata"\n:');
  const output = (await reviewText(t, lines, { profile: 'cilium' })).yaml();
  assert.equal((await reviewText(t, output, { profile: 'cilium' })).summary.current, 1);
});
