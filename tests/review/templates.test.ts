import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceOf, pod, reviewText } from './support.ts';

test('an unrendered template is an error that says to render it', async (t) => {
  for (const labels of ['  labels: {{ toYaml .Values.labels }}', '  labels:\n{% if item.labels %}']) {
    const text = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n${labels}\n`;
    const { report, reported } = await reviewText(t, text, { profile: 'cilium' });
    assert.deepEqual(reported, []);
    const [fault] = report.faults;
    assert.equal(fault?.code, 'CNI_GATE_INPUT_SYNTAX');
    assert.match(fault?.message ?? '', /render a template first, for example with helm template/);
  }
});

test('template actions in quotes, block scalars and comments are data', async (t) => {
  const text = `${pod('a').replace('image: app:1', 'image: "app:{{ tag }}"')}      # {{ a comment }}
      command: ['{{ "quoted" }}', "{% raw %}"]
      args:
        - |
          {{ range .Alerts }}
          {% for x in y %}
          {{ end }}
        - >-
          {{inputs.parameters.message}}
        - summary of {{ $labels.instance }}
`;
  const { faults } = await reviewText(t, text, { profile: 'cilium' });
  assert.deepEqual(faults, []);
});

test('two manifests without a marker between them are an error, and neither is taken for the file', async (t) => {
  const { report, reported } = await reviewText(t, `${pod('a')}${pod('b')}`, { profile: 'cilium' });
  assert.deepEqual(reported, []);
  assert.match(
    report.faults[0]?.message ?? '',
    /the key "apiVersion" occurs twice: is a "---" missing before it\?/,
  );
});

test('a Namespace that opts in to different profiles in two places is an error', async (t) => {
  const text = [namespaceOf('shop', 'cillium'), namespaceOf('shop', 'cilium'), pod('a')].join('---\n');
  const { report } = await reviewText(t, text);
  assert.match(report.faults[0]?.message ?? '', /Namespace shop has another label cni-gate\.io\/profile in /);
});
