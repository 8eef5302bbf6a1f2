import type { Report } from './model.ts';

/** How many of what; the names are those of the JSON output. */
export interface Summary {
  /** Workloads that were looked at, whether their namespace opted in or not. */
  reviewed: number;
  /** Pods that get the init container, anew or brought up to date. */
  injected: number;
  /** Pods that are as they should be already. */
  current: number;
  /** Pods that an earlier injection is taken out of. */
  removed: number;
  /** Pods in namespaces that opted in which are left alone, by reason. */
  leftAlone: Record<string, number>;
  notOptedIn: number;
  refused: number;
  warnings: number;
  /** Objects that make no pods, by kind. */
  passedBy: Record<string, number>;
  namespaces: number;
  /** What could not be read. */
  errors: number;
}

/** The reason of workloads for which the API server does not call. */
export const notOptedIn = 'not-opted-in';

export function summarize(report: Report): Summary {
  const verdicts = report.judged.map((one) => one.verdict);
  const count = (...outcomes: string[]): number =>
    verdicts.filter((verdict) => outcomes.includes(verdict.outcome)).length;
  const leftAlone = new Map<string, number>();
  for (const { outcome, reason } of verdicts) {
    if (outcome === 'skipped' && reason !== notOptedIn)
      leftAlone.set(reason, (leftAlone.get(reason) ?? 0) + 1);
  }
  return {
    reviewed: verdicts.length,
    injected: count('injected', 'updated'),
    current: count('current'),
    removed: count('removed'),
    leftAlone: Object.fromEntries(leftAlone),
    notOptedIn: verdicts.filter(({ outcome, reason }) => outcome === 'skipped' && reason === notOptedIn)
      .length,
    refused: count('refused'),
    warnings: verdicts.reduce((sum, verdict) => sum + verdict.warnings.length, 0),
    passedBy: Object.fromEntries(report.passedBy),
    namespaces: report.namespaces,
    errors: report.faults.length,
  };
}

/** The exit code: 2 for what could not be read, 1 for a refusal and, if strict, for a warning. */
export function exitCodeOf({ errors, refused, warnings }: Summary, strict: boolean): number {
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings > 0) ? 1 : 0;
}
