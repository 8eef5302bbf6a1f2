import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { machine, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { cacheHome } from '../cluster/binaries/cache.ts';
import { run } from '../support/run.ts';

/** An alert of the component `monitoring`, as in Prometheus' rule file. */
export interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: { summary: string; runbook_url: string };
}

const manifest = new URL('../../manifests/components/monitoring/alerts.yaml', import.meta.url);
const { spec }: { spec: { groups: { name: string; rules: Alert[] }[] } } = parse(
  readFileSync(manifest, 'utf8'),
);

/** All alerts, in the order of the manifest. */
export const alerts: readonly Alert[] = spec.groups.flatMap(({ rules }) => rules);

/** A situation in `cases.yaml`. */
export interface AlertCase {
  when: string;
  series: Record<string, string>;
  at: string;
  fires?: { labels?: Record<string, string>; summary?: string };
}

/** The situations in `cases.yaml`, by the name of their alert. */
export const cases: Record<string, AlertCase[]> = parse(
  readFileSync(new URL('cases.yaml', import.meta.url), 'utf8'),
);

/** Evaluates an alert in a situation with promtool. @throws Error if the result is not the expected one */
export async function evaluate(rule: Alert, { series, at, fires }: AlertCase): Promise<void> {
  const { labels, ...annotations } = fires ?? {};
  const expected = fires && {
    exp_labels: { ...rule.labels, ...labels },
    exp_annotations: { ...rule.annotations, ...annotations },
  };
  const cases = {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: [{ eval_time: at, alertname: rule.alert, exp_alerts: expected ? [expected] : [] }],
      },
    ],
  };
  await inFolder((folder) => {
    const file = join(folder, 'cases.yaml');
    writeFileSync(file, stringify(cases));
    return promtool('test', 'rules', file);
  });
}

/** Checks the syntax of all rules with promtool. @throws Error with promtool's findings */
export const checkRules = (): Promise<string> =>
  inFolder((folder) => promtool('check', 'rules', '--lint-fatal', join(folder, 'rules.yaml')));

/** Parses queries with promtool, each as the expression of a rule. @throws Error with those that are not valid */
export const checkQueries = (queries: readonly string[]): Promise<string> =>
  inFolder((folder) => {
    const rules = queries.map((expr, index) => ({ record: `query${index}`, expr }));
    const file = join(folder, 'queries.yaml');
    writeFileSync(file, stringify({ groups: [{ name: 'queries', rules }] }));
    return promtool('check', 'rules', file);
  });

/** Calls `work` with a folder that has the rules without their Kubernetes object, which promtool cannot read. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-alerts-'));
  try {
    writeFileSync(join(folder, 'rules.yaml'), stringify(spec));
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function promtool(...args: string[]): Promise<string> {
  const program = join(cacheHome(), `promtool-${machine()}`);
  try {
    return await run(program, args);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new Error(`NOT RUN: there is no ${program}. To get it: tests/alerts/install.sh`);
  }
}
