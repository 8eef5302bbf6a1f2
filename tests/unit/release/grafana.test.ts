import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import dashboard from '../../../charts/cni-gate/dashboard/cni-gate.json' with { type: 'json' };
import { Metrics } from '../../../webhook/server/metrics.ts';

const text = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The names of the metrics that the dashboard's queries contain. */
const named = new Set(
  expressions
    .flatMap((expr) => expr.match(/\b(?:cni_gate|process|nodejs)_\w+/g) ?? [])
    .map((name) => name.replace(/_bucket$/, '')),
);
const documented = [...text('docs/reference/metrics.md').matchAll(/^- `(cni_gate_\w+)/gm)].map(
  ([, name = '']) => name,
);

test('every metric of the dashboard exists, and every documented metric is on it', () => {
  const own = [...named].filter((name) => name.startsWith('cni_gate_'));
  assert.deepEqual(own.toSorted(), documented.toSorted());
});

test('the metrics of the process are those of the server', async () => {
  const exported = await new Metrics().registry.metrics();
  const others = [...named].filter((name) => !name.startsWith('cni_gate_'));
  assert.ok(others.length > 3);
  for (const name of others) assert.match(exported, new RegExp(`^# TYPE ${name} `, 'm'));
});
