import assert from 'node:assert/strict';
import { test } from 'node:test';
import { junitOutput } from '../../webhook/review/output/reports.ts';
import { labelled, namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

test('the text output: a header, a unified diff of the object, and totals', async (t) => {
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
    '@@ -3,7 +3,41 @@',
    ' metadata:',
    '   name: a',
    '   namespace: shop',
    '+  labels:',
    '+    cni-gate.io/profile: cilium',
  ]);
  assert.deepEqual(lines.slice(-3), ['0 warnings, 0 other objects', 'passed', '']);
});

test('an init container that the proof replaces is a removal in the diff', async (t) => {
  const validator = 'linkerd-network-validator';
  const text = pod('a').replace('spec:', `spec:\n  initContainers:\n  - name: ${validator}\n    image: b`);
  const redirect = { listen: 4140, connect: ['192.0.2.2:1404'] };
  const config = {
    ...{ apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration' },
    profiles: [{ name: 'linkerd', proof: { checks: [{ redirect }], replaces: [validator] } }],
  };
  const reviewed = await reviewText(t, text, { profile: 'linkerd', config: JSON.stringify(config) });
  assert.match(reviewed.text(), /^- .*name: linkerd-network-validator/m);
  assert.doesNotMatch(reviewed.yaml(), /linkerd-network-validator/);
});

test('a skipped workload has no diff, although its patch records the review', async (t) => {
  const reviewed = await reviewText(t, pod('a'), { profile: 'linkerd' });
  assert.ok((reviewed.report.reviewed[0]?.decision.operations.length ?? 0) > 0);
  assert.match(reviewed.text(), /^skipped Pod shop\/a .*: no-profile-applies\nwarning/);
});

test('control characters in names do not reach the terminal', async (t) => {
  const text = pod('a').replace('name: a', 'name: "\\e[2Ja\\u009b1mb\\a"');
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  assert.doesNotMatch(reviewed.text(), /[^\P{Cc}\n]/u);
  assert.match(reviewed.text(), /^injected Pod shop\/a/);
  assert.doesNotMatch(junitOutput(reviewed.report, [], '/'), /[^\P{Cc}\n\u0080-\u009f]/u);
});

test('JSON: why the mutating policy leaves a workload to the server, unless it is refused', async (t) => {
  const skipped = "annotations: {config.linkerd.io/skip-outbound-ports: '1404'}";
  const reviewed = await reviewText(
    t,
    [
      pod('plain'),
      pod('skipping').replace('metadata:', `metadata:\n  ${skipped}`),
      labelled('refused', 'nowhere').replace('metadata:', `metadata:\n  ${skipped}`),
      namespaceOf('shop', 'linkerd'),
    ].join('---\n'),
  );
  assert.deepEqual(
    reviewed.json().workloads.map(({ name, needsServer }) => [name, needsServer]),
    [
      ['plain', undefined],
      ['skipping', 'skipped-ports'],
      ['refused', undefined],
    ],
  );
});
