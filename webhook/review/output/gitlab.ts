import type { Report } from '../model.ts';
import { problemsOf } from './problems.ts';

/** A Code Quality report for a merge request. Source: GitLab's documentation, "Code Quality report format". */
export function gitlabOutput(report: Report, strict: boolean, root: string): string {
  const violations = problemsOf(report, strict, root).map(
    ({ text, code, fingerprint, level, file, line = 1 }) => ({
      description: text,
      check_name: code,
      fingerprint,
      severity: level === 'error' ? 'major' : 'minor',
      // the format requires a line
      location: { path: file, lines: { begin: line } },
    }),
  );
  return `${JSON.stringify(violations, null, 2)}\n`;
}
