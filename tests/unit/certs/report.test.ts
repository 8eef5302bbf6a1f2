import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { CertificateMetrics } from '../../../certs/metrics.ts';
import { Report } from '../../../certs/report.ts';
import type { ConfigurationsSnapshot } from '../../../certs/shared.ts';

const name = 'mutating/cni-gate';

/** A report, and the levels and texts that it logged. */
function reporting() {
  const reported: [level: string, text: string][] = [];
  const level =
    (word: string) =>
    (_facts: object, text: string): void =>
      void reported.push([word, text]);
  const log = { info: level('info'), warn: level('warn'), error: level('error') };
  const report = new Report(
    log,
    new CertificateMetrics(new Registry()),
    () => 0,
    () => {},
  );
  return { report, reported };
}

const seen = (bundle: string | undefined): ConfigurationsSnapshot => ({
  configurations: [{ name, version: '1', resourceVersion: '1', webhooks: [0], bundles: [bundle] }],
  complete: true,
  absent: new Map(),
  failed: new Map(),
});

const filled: [string, string] = ['info', `the caBundle of ${name} was filled in`];
const emptied: [string, string] = ['warn', `the caBundle of ${name} was empty; repaired`];

test('a caBundle that was never there is filled in without a warning', () => {
  const { report, reported } = reporting();
  report.observed(seen(undefined));
  report.repaired(name, 'empty');
  assert.deepEqual(reported, [filled]);
});

test('one that somebody emptied is a warning, whoever had filled it', () => {
  const ours = reporting();
  ours.report.repaired(name, 'empty');
  ours.report.repaired(name, 'empty');
  assert.deepEqual(ours.reported, [filled, emptied]);

  const another = reporting();
  another.report.observed(seen('PEM'));
  another.report.observed(seen(undefined));
  another.report.repaired(name, 'empty');
  assert.deepEqual(another.reported, [emptied]);
});

test('a configuration that was deleted and recreated is new', () => {
  const { report, reported } = reporting();
  report.observed(seen('PEM'));
  report.observed({ ...seen('PEM'), configurations: [], absent: new Map([[name, 'it is gone']]) });
  report.observed(seen(undefined));
  report.repaired(name, 'empty');
  assert.deepEqual(reported.at(-1), filled);
});

test('every other fault is a warning the first time', () => {
  const { report, reported } = reporting();
  report.repaired(name, 'foreign');
  assert.deepEqual(reported, [['warn', `the caBundle of ${name} was foreign; repaired`]]);
});
