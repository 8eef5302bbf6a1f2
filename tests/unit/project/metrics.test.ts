import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CertificateMetrics } from '../../../certs/metrics.ts';
import { EventMetrics } from '../../../webhook/events/metrics.ts';
import { ClusterMetrics } from '../../../webhook/kubernetes/metrics.ts';
import { systemClock } from '../../../webhook/lib/deps.ts';
import { RepairMetrics } from '../../../webhook/repair/metrics.ts';
import { measureEvidence } from '../../../webhook/server/evidence-metrics.ts';
import { Metrics } from '../../../webhook/server/metrics.ts';
import { measureReadiness } from '../../../webhook/server/readiness-metrics.ts';
import { SteerMetrics } from '../../../webhook/steer/metrics.ts';
import { viewOfFlag } from '../../../webhook/view/from-file.ts';
import { policyOf } from '../../support/configurations.ts';

const reference = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8');

/** Each metric as the reference tells it: name, type, labels without the values in brackets behind them. */
const reported = [...reference.matchAll(/^\| `(cni_gate_\w+)` *\| (\w+) *\| ([^|]*)\|/gm)].map(
  ([, name, type, labels = '']) => [
    name,
    type,
    ...[...labels.replaceAll(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, label]) => label),
  ],
);

const byName = (a: unknown[], b: unknown[]): number => String(a[0]).localeCompare(String(b[0]));

test('every metric of the server is in the reference with its type and labels, and says what it is', () => {
  const metrics = new Metrics();
  metrics.measureBodies(() => ({ text: 0, parsed: 0 }));
  metrics.measureEventLoop();
  const { registry } = metrics;
  new ClusterMetrics(registry);
  new SteerMetrics(registry);
  new EventMetrics(registry);
  new RepairMetrics(registry);
  measureReadiness({ registry, clock: systemClock }, () => policyOf(), viewOfFlag(undefined));
  measureEvidence({ registry, clock: systemClock }, viewOfFlag(undefined));
  new CertificateMetrics(registry);
  const real = registry
    .getMetricsAsArray()
    // the type and the labels are there, but not in prom-client's types of this call
    .map((metric) => metric as unknown as { name: string; help: string; type: string; labelNames: string[] })
    .filter(({ name }) => name.startsWith('cni_gate_'));
  const found = real.map(({ name, type, labelNames }) => [name, type, ...labelNames]);
  assert.deepEqual(reported.toSorted(byName), found.toSorted(byName));
  for (const { name, help } of real) assert.match(help, /^[A-Z].*\.$/, name);
});
