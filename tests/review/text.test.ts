import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configuredProfiles } from '../support/configurations.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

test('the text output: a header, a unified diff with the lines of the file, and totals', async (t) => {
  const reviewed = await reviewFiles(
    t,
    { 'a.yaml': `# one\n---\n# two\n${pod('a')}` },
    { profile: 'cilium' },
  );
  const [document] = reviewed.report.documents;
  const lines = reviewed
    .text()
    .replaceAll(document?.file ?? '', 'a.yaml')
    .split('\n');
  assert.deepEqual(lines.slice(0, 9), [
    'injected Pod shop/a (a.yaml:4): cilium',
    '--- a.yaml',
    '+++ a.yaml as admitted',
    '@@ -6,7 +6,41 @@',
    ' metadata:',
    '   name: a',
    '   namespace: shop',
    '+  labels:',
    '+    cni-gate.io/profile: cilium',
  ]);
  assert.deepEqual(lines.slice(-3), ['0 warnings, 0 other objects', 'passed', '']);
});

test('the diff of an object in a List, and of JSON', async (t) => {
  const object = pod('a').replace('image: app:1', 'image:   "app:1"  # by hand');
  const list = `kind: List\napiVersion: v1\nitems:\n- ${object.replaceAll(/\n(?=.)/g, '\n  ')}`;
  const inList = (await reviewText(t, list, { profile: 'cilium' })).text();
  assert.match(inList, /^@@ -6,7 \+6,41 @@\n metadata:\n[^@]*\n {5}image: "app:1" # by hand\n/m);
  const json = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [] } });
  const inJson = (await reviewFiles(t, { 'a.json': json }, { profile: 'cilium' })).text();
  assert.match(inJson, /^\+ {8}"name": "cni-gate-validator",$/m);
});

test('control characters in names do not reach the terminal', async (t) => {
  const text = pod('a').replace('name: a', 'name: "\\e[2Ja\\u009b1mb\\a"');
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  assert.doesNotMatch(reviewed.text(), /[^\P{Cc}\n]/u);
  assert.match(reviewed.text(), /^injected Pod shop\/a/);
});

test('without a diff: a line for each workload, then findings and totals', async (t) => {
  const host = pod('host').replace('spec:', 'spec:\n  hostNetwork: true');
  const refused = pod('wrong').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: nowhere}');
  const documents = [namespaceOf('shop', 'cilium.multus'), pod('a'), host, refused, pod('b', 'tools')];
  const text = `${documents.join('---\n')}---\nkind: Service\napiVersion: v1\n`;
  const reviewed = await reviewText(t, text);
  assert.deepEqual(
    reviewed
      .brief()
      .replaceAll(/\/\S*(?=:\d+)/g, 'f')
      .split('\n'),
    [
      'injected Pod shop/a (f:8): cilium',
      'skipped Pod shop/host (f:18): host-network',
      `refused Pod shop/wrong (f:29): profile "nowhere" does not exist; ${configuredProfiles} (CNI_GATE_PROFILE_UNKNOWN)`,
      'skipped Pod tools/b (f:40): namespace-not-given',
      'warning Namespace tools (f:44): is not in the input, so the checks of 1 workload are not known: add it to the input, set another with -n for objects that name none, or use --profile (CNI_GATE_NAMESPACE_NOT_GIVEN)',
      'warning Namespace shop (f:6): profile multus applies to no workload in the input: look at its condition "when", or leave it out (for a mesh, add --assume-meshed, or review pods with its containers) (CNI_GATE_NOTHING_CHECKED)',
      'reviewed 4 workloads: 1 injected, 2 skipped (host-network 1, namespace-not-given 1), 1 refused',
      '2 warnings, 1 other object (Service 1)',
      'failed',
      '',
    ],
  );
});
