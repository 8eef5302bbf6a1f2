import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import dashboard from '../../charts/cni-gate/dashboard/cni-gate.json' with { type: 'json' };
import { startBusyServer } from './busy-server.ts';
import { startPrometheus } from './prometheus.ts';

/** Queries, by the legend or the title of their panel, of what does not happen to the server of this test. */
const withoutData = [
  'Allowed without a ready node, by reason',
  'Outcomes of nominations',
  'Outcomes of recreations',
  'Failed pods that are left alone, by reason',
  'repaired {{object}}: {{reason}}',
  'failed: {{code}}',
  'Calls and connections, by limit',
  'Objects that were left out',
  'Single objects that were requested',
  '{{resource}}: {{reason}}',
  '{{resource}}: list failed',
];

const { panels, templating } = dashboard;
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, legend: legendFormat, expr })),
);

/** As Grafana does it when "All" or one value is chosen. */
const substituted = (expr: string, job: string): string =>
  expr.replaceAll('$namespace', '.*').replaceAll('$job', job).replaceAll('$__rate_interval', '1m');

test('every query of the dashboard is valid, and finds data of a server that works', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-grafana-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startBusyServer(t, folder);
  const { query } = await startPrometheus(t, folder, server.opsPort);
  const expected = queries.filter(
    ({ title, legend }) => !withoutData.includes(title) && !withoutData.includes(legend),
  );
  assert.ok(expected.length > queries.length / 2);
  let missing: string[] = [];
  // a rate needs two scrapes of a counter
  for (let attempt = 0; attempt < 240; attempt += 1) {
    await server.work();
    await sleep(500);
    const found = await Promise.all(
      expected.map(async ({ title, legend, expr }) => ({
        name: `${title}: ${legend}: ${expr}`,
        samples: await query(substituted(expr, '.*')),
      })),
    );
    missing = found.filter(({ samples }) => samples.length === 0).map(({ name }) => name);
    if (missing.length === 0) break;
  }
  assert.deepEqual(missing, []);
  for (const { expr } of queries) await query(substituted(expr, '.*'));
  for (const { expr } of queries.filter(({ expr }) => expr.includes('$job')))
    assert.deepEqual(await query(substituted(expr, 'another')), [], expr);
  for (const variable of templating.list) {
    if (!('definition' in variable)) continue;
    const [, series = ''] = /^label_values\((.*), \w+\)$/.exec(variable.definition) ?? [];
    const [found] = await query(substituted(series, '.*'));
    assert.ok(found?.metric[variable.name], variable.definition);
  }
  const [refused] = await query(
    'cni_gate_admission_reviews_total{webhook="gate",outcome="refused",reason="broken"}',
  );
  assert.ok(Number(refused?.value[1]) > 0);
});
