import type { Uncalled } from './ask/judge.ts';
import type { Report, Verdict } from './model.ts';

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
  /** Workloads for which the API server would not call, or nobody can tell. */
  notOptedIn: number;
  /** Those of them whose namespace is not in the input. */
  namespaceNotGiven: number;
  refused: number;
  /** Pods that would be refused if `proof.mode` were `enforce`. */
  warned: number;
  warnings: number;
  /** Objects that make no pods, by kind. */
  passedBy: Record<string, number>;
  namespaces: number;
  /** What could not be read. */
  errors: number;
}

const uncalled: ReadonlySet<string> = new Set<Uncalled>(['not-opted-in', 'namespace-not-given']);

/** Whether the API server would not have called for this workload, or nobody can tell. */
export function isUncalled({ outcome, reason }: Verdict): boolean {
  return outcome === 'skipped' && uncalled.has(reason);
}

export function summarize(report: Report): Summary {
  const verdicts = report.judged.map((one) => one.verdict);
  const count = (...outcomes: string[]): number =>
    verdicts.filter((verdict) => outcomes.includes(verdict.outcome)).length;
  const leftAlone = new Map<string, number>();
  for (const verdict of verdicts) {
    const { outcome, reason } = verdict;
    if (outcome === 'skipped' && !isUncalled(verdict))
      leftAlone.set(reason, (leftAlone.get(reason) ?? 0) + 1);
  }
  return {
    reviewed: verdicts.length,
    injected: count('injected', 'updated'),
    current: count('current'),
    removed: count('removed'),
    leftAlone: Object.fromEntries(leftAlone),
    notOptedIn: verdicts.filter(isUncalled).length,
    namespaceNotGiven: verdicts.filter(({ reason }) => reason === ('namespace-not-given' satisfies Uncalled))
      .length,
    refused: count('refused'),
    warned: count('warned'),
    warnings: verdicts.reduce((sum, verdict) => sum + verdict.warnings.length, 0),
    passedBy: Object.fromEntries(report.passedBy),
    namespaces: report.namespaces,
    errors: report.faults.length,
  };
}

/**
 * The exit code: 2 for what could not be read, 1 for a refusal and, if strict, for a warning or a workload whose
 * namespace is not in the input: a pipeline that forgot the Namespace would otherwise check nothing and be green.
 */
export function exitCodeOf(summary: Summary, strict: boolean): number {
  const { errors, refused, warnings, namespaceNotGiven } = summary;
  if (errors > 0) return 2;
  return refused > 0 || (strict && warnings + namespaceNotGiven > 0) ? 1 : 0;
}
