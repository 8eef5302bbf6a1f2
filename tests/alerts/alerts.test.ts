import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import dashboard from '../../charts/cni-gate/dashboard/cni-gate.json' with { type: 'json' };
import { alerts, cases, checkQueries, checkRules, evaluate } from './promtool.ts';

test('promtool finds no fault with the rules', async () => {
  assert.match(await checkRules(), new RegExp(`SUCCESS: ${alerts.length} rules found`));
});

for (const [name, own] of Object.entries(cases)) {
  suite(name, () => {
    const rule = alerts.find(({ alert }) => alert === name) ?? assert.fail();
    for (const one of own)
      test(`${one.fires ? 'fires' : 'does not fire'}: ${one.when}`, () => evaluate(rule, one));
  });
}

test('Prometheus can parse every query of the dashboard for Grafana', async () => {
  const queries = dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) => expr.replaceAll('$namespace', '.*').replaceAll('$job', '.*')),
  );
  const parsed = await checkQueries(queries.map((expr) => expr.replaceAll('$__rate_interval', '1m')));
  assert.match(parsed, new RegExp(`SUCCESS: ${queries.length} rules found`));
});
