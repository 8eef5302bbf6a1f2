import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { valueAt } from '../../webhook/lib/json.ts';
import { tables } from './manifests.ts';
import { namespaceOf, pod, type Reviewed, readYaml, reviewFiles, reviewText } from './support.ts';

const texts: Record<string, string> = tables('patched.yaml');

/** The value of a YAML text after the patches of its workloads. Each alias becomes a copy of its anchor's value. */
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
    test(`${title}: has the patched value, is current when reviewed again, and loses only the injection`, async (t) => {
      const reviewed = await reviewText(t, text, { profile: 'cilium' });
      assert.deepEqual(reviewed.faults, []);
      assert.doesNotMatch(reviewed.text(), /&a1/);
      const output = reviewed.yaml();
      assert.deepEqual(readYaml(output), patchedValue(text, reviewed));
      const again = await reviewText(t, output, { profile: 'cilium' });
      assert.equal(again.summary.current, reviewed.summary.injected);
      assert.equal(again.yaml(), output);
      const removed = await reviewText(t, output, { profile: 'linkerd' });
      assert.equal(removed.summary.removed, removed.summary.workloads);
      assert.doesNotMatch(removed.yaml(), /cni-gate-validator/);
    });
  }
});

test('documents keep their order, with a line of dashes between them', async (t) => {
  const { yaml } = await reviewFiles(t, {
    'a.yaml': `# a\n${namespaceOf('shop', 'cilium')}---\n# nothing here\n---\n${pod('a')}`,
    'b.json': '{"apiVersion": "v1", "kind": "Secret", "data": {"x": 1.10}}\n{"kind": "None"}',
    'c.yml': `---\n${namespaceOf('x', 'y')}`,
  });
  const documents = yaml().split(/^---\n/m);
  assert.match(documents.splice(2, 1)[0] ?? '', /cni-gate-validator/);
  assert.deepEqual(documents, [
    `# a\n${namespaceOf('shop', 'cilium')}`,
    '# nothing here\n',
    '{"apiVersion": "v1", "kind": "Secret", "data": {"x": 1.10}}\n',
    '{"kind": "None"}\n',
    namespaceOf('x', 'y'),
  ]);
});

test('JSON stays JSON', async (t) => {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a\u{1f600}', labels: { 'cni-gate.io/profile': 'cilium' }, annotations: { '<<': 'x' } },
    spec: { containers: [{ name: 'app' }], initContainers: [{ name: 'one' }] },
  };
  // the second layout is JSON that a YAML parser does not accept
  for (const text of [
    JSON.stringify(object),
    JSON.stringify(object).replace('"metadata":', '"metadata"\n:'),
  ]) {
    const output = (await reviewText(t, text, { profile: 'cilium' })).yaml();
    assert.equal(output, `${JSON.stringify(JSON.parse(output), null, 2)}\n`);
    const { initContainers } = JSON.parse(output).spec;
    assert.deepEqual(
      initContainers.map((container: { name: string }) => container.name),
      ['cni-gate-validator', 'one'],
    );
  }
});
