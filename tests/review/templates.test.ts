import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pod, reviewText } from './support.ts';

const helm = `{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "shop.name" . }}-web
  labels:
    {{- include "shop.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
        - name: web
          image: "{{ .Values.image }}:{{ .Values.tag }}"
          args: [{{ .Values.args }}]
---
apiVersion: v1
kind: Service
metadata: { name: {{ .Release.Name }} }
{{- end }}
`;

const jinja = `# of a role
apiVersion: v1
kind: Pod
metadata:
  name: web-{{ item.name }}
{% if item.labels %}
  labels: {{ item.labels | to_json }}
{% endif %}
spec: {}
`;

test('an unrendered template is one error with the line of its first action', async (t) => {
  const bare = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels: {{ toYaml .Values.labels }}\n';
  const block =
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n{{ toYaml .Values.labels | indent 4 }}\n';
  for (const [text, line] of [
    [helm, 1],
    [jinja, 5],
    [bare, 5],
    [block, 6],
  ] as const) {
    const { report, reported } = await reviewText(t, text, { profile: 'cilium' });
    assert.deepEqual(reported, []);
    assert.equal(report.faults.length, 1, text);
    const [fault] = report.faults;
    assert.equal(fault?.code, 'CNI_GATE_INPUT_TEMPLATE');
    assert.equal(fault?.line, line, text);
    assert.match(fault?.message ?? '', /render it first, for example with helm template/);
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
