import type { Outcome } from '../inject/decide.ts';
import type { Uncalled } from './ask/judge.ts';
import type { Report, Verdict } from './model.ts';

/** How many workloads have an outcome; `skipped` is counted by reason. */
type Outcomes = Record<Exclude<Outcome, 'skipped'>, number>;

/**
 * How many of what. Outcomes and reasons have the same names in every output; docs/guides/review.md says what they
 * mean.
 */
export interface Summary extends Outcomes {
  /** All that were looked at; the outcomes add up to it. */
  workloads: number;
  /** Workloads that nothing is done about, by reason. */
  skipped: Record<string, number>;
  /** Objects that make no pods, by kind. */
  otherObjects: Record<string, number>;
  /** Workloads of a kind that is in no list. */
  unknownKinds: number;
  /** Namespaces in the input. */
  namespaces: number;
  /** What a cluster would warn of. */
  warnings: number;
  /** What `review` itself found; see `Finding`. */
  findings: number;
  /** What could not be read. */
  errors: number;
}

const uncalled: ReadonlySet<string> = new Set<Uncalled>(['not-opted-in', 'namespace-not-given']);

/** Whether the API server would not have called for this workload, or nobody can tell. */
export function isUncalled({ outcome, reason }: Verdict): boolean {
  return outcome === 'skipped' && uncalled.has(reason);
}

/** Whether nobody can tell what becomes of a workload, because its namespace is not in the input. */
export function isNotInInput({ outcome, reason }: Verdict): boolean {
  return outcome === 'skipped' && reason === ('namespace-not-given' satisfies Uncalled);
}

/** Counts the verdicts of a report. */
export function summarize(report: Report): Summary {
  const verdicts = report.reviewed.map((one) => one.verdict);
  const count = (outcome: Outcome): number =>
    verdicts.filter((verdict) => verdict.outcome === outcome).length;
  const skipped = Map.groupBy(
    verdicts.filter(({ outcome }) => outcome === 'skipped'),
    ({ reason }) => reason,
  );
  return {
    workloads: verdicts.length,
    injected: count('injected'),
    updated: count('updated'),
    current: count('current'),
    removed: count('removed'),
    skipped: Object.fromEntries([...skipped].map(([reason, { length }]) => [reason, length])),
    warned: count('warned'),
    refused: count('refused'),
    otherObjects: Object.fromEntries(report.otherObjects),
    unknownKinds: report.reviewed.filter(({ workload }) => workload.unknownKind).length,
    namespaces: report.namespaces,
    warnings: verdicts.reduce((sum, verdict) => sum + verdict.warnings.length, 0),
    findings: report.findings.length,
    errors: report.faults.length,
  };
}

/**
 * The exit code: 2 for what could not be read, 1 for a refusal and, if strict, for a warning or a finding: a
 * pipeline that forgot the Namespace, or the mesh's injector, would otherwise check nothing and be green.
 */
export function exitCodeOf({ errors, refused, warnings, findings }: Summary, strict: boolean): number {
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings + findings > 0) ? 1 : 0;
}
