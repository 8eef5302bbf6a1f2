import type { Outcome } from '../admission/mutate.ts';
import type { Report } from './model.ts';

/** The number of workloads with an outcome; `skipped` is counted by reason. */
type Outcomes = Record<Exclude<Outcome, 'skipped'>, number>;

/** The totals. Outcomes and reasons have the same names in every output; docs/guides/review.md explains them. */
export interface Summary extends Outcomes {
  /** All reported workloads: the sum of the outcomes. */
  workloads: number;
  /** Workloads without a check, by reason. */
  skipped: Record<string, number>;
  /** Objects that create no pods, by kind. */
  otherObjects: Record<string, number>;
  /** Namespaces in the input. */
  namespaces: number;
  /** Warnings of the cluster. */
  warnings: number;
  /** Findings of `review`; see `Finding`. */
  findings: number;
  /** Unreadable parts of the input. */
  errors: number;
}

/** Counts the decisions of a report. */
export function summarize(report: Report): Summary {
  const decisions = report.reviewed.map((entry) => entry.decision);
  const count = (outcome: Outcome): number =>
    decisions.filter((decision) => decision.outcome === outcome).length;
  const skipped = Map.groupBy(
    decisions.filter(({ outcome }) => outcome === 'skipped'),
    ({ reason }) => reason,
  );
  return {
    workloads: decisions.length,
    injected: count('injected'),
    updated: count('updated'),
    current: count('current'),
    removed: count('removed'),
    skipped: Object.fromEntries([...skipped].map(([reason, { length }]) => [reason, length])),
    warned: count('warned'),
    refused: count('refused'),
    otherObjects: Object.fromEntries(report.otherObjects),
    namespaces: report.namespaces,
    warnings: decisions.reduce((sum, decision) => sum + decision.warnings.length, 0),
    findings: report.findings.length,
    errors: report.faults.length,
  };
}

/**
 * The exit code: 2 for unreadable input, 1 for a refusal and, if strict, for a warning or a finding. Otherwise a
 * pipeline without the Namespace, or without the mesh's injector, would pass and check nothing.
 */
export function exitCodeOf({ errors, refused, warnings, findings }: Summary, strict: boolean): number {
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings + findings > 0) ? 1 : 0;
}
