import { timeText } from '../../lib/time-text.ts';
import type { Facts } from '../facts/collect.ts';
import type { Network, Proposal } from './before-install.ts';
import { type CheckId, catalogue, checkIds, checkPage } from './catalogue.ts';
import type { CheckResult, Finding } from './finding.ts';

/** A check with its result. */
export type Check = ReturnType<typeof checksFrom>[number];

/** `not-known`: nothing is known to be wrong, but a right is missing for a result. */
export type ReportResult = 'passed' | 'failed' | 'not-known' | 'not-installed';

/** What `check --output json` prints; `schemas/check.json` describes each field. */
export type CheckReport = ReturnType<typeof reportOf>;

/** What a report is made of. */
export interface ReportOptions {
  facts: Pick<Facts, 'cluster' | 'configuration'>;
  findings: Partial<Record<CheckId, Finding>>;
  /** Whether it was made before installing (`--pre`). */
  mode: 'pre' | 'installed';
  networks?: Network[];
  proposals?: Proposal[];
  /** Milliseconds since the epoch. */
  now: number;
}

/** The report of checks, in the order of the catalogue. */
export function reportOf({ facts, findings, mode, networks = [], proposals = [], now }: ReportOptions) {
  const checks = checksFrom(findings);
  const result = resultOf(findings);
  return {
    time: timeText(now),
    mode,
    result,
    headline: headlineOf(result, checks),
    cluster: facts.cluster,
    configuration: facts.configuration.source,
    counts: countOf(checks),
    checks,
    networks,
    proposals,
  };
}

/** The checks that were made, in the order of the catalogue. */
export const checksFrom = (findings: Partial<Record<CheckId, Finding>>) =>
  checkIds.flatMap((id) => {
    const finding = findings[id];
    if (finding === undefined) return [];
    const { result, what, hint, code } = finding;
    return [{ id, ...catalogue[id], result, what, hint, code, link: checkPage(id) }];
  });

function resultOf(findings: ReportOptions['findings']): ReportResult {
  const all = Object.values(findings);
  if (findings.installed?.result === 'failed') return 'not-installed';
  if (all.some(({ result }) => result === 'failed')) return 'failed';
  return all.some(({ result, essential }) => result === 'not-known' && essential) ? 'not-known' : 'passed';
}

function countOf(checks: readonly Check[]): Record<CheckResult, number> {
  const counts = { passed: 0, failed: 0, warning: 0, 'not-known': 0, skipped: 0 };
  for (const { result } of checks) counts[result] += 1;
  return counts;
}

/** The result in one line: the first check that failed is the cause of others, by the order of the catalogue. */
function headlineOf(result: ReportResult, checks: readonly Check[]): string {
  const having = (result: CheckResult): Check[] => checks.filter((check) => check.result === result);
  const [bad, warnings, unknown] = [having('failed'), having('warning'), having('not-known')];
  const made = checks.length - unknown.length - having('skipped').length;
  const noun = made === 1 ? 'check' : 'checks';
  const [first = having('passed')[0]] =
    result === 'not-installed' ? bad.filter(({ id }) => id === 'installed') : bad;
  const dark = unknown.length > 0 ? ` Not known: ${unknown.map(({ id }) => id).join(', ')}.` : '';
  switch (result) {
    case 'not-installed':
    case 'failed':
      return `${bad.length} of ${made} ${noun} failed. ${first?.id}: ${first?.what} (${first?.code})`;
    case 'not-known':
      return `It is not known whether all is well: ${made} ${noun} passed.${dark}`;
    case 'passed': {
      const texts = warnings.map(({ id, what }) => `${id}: ${what}`);
      return `${texts.length > 0 ? `No check failed. Warnings: ${texts.join('; ')}` : `All ${made} ${noun} passed`}.${dark}`;
    }
  }
}
