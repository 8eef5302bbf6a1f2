import { clean } from '../../lib/clean.ts';
import type { Report } from '../model.ts';
import { fingerprintsOf, messageWithSubject, problemsOf } from './problems.ts';
import { pathFrom, type Root } from './root.ts';

/**
 * The output for GitLab: a Code Quality report, which a merge request shows.
 *
 * Source: GitLab's documentation, "Code Quality", section "Code Quality report format".
 */
export function gitlabOutput(report: Report, strict: boolean, root: Root): string {
  const problems = problemsOf(report, strict);
  const pathOf = (file: string): string => pathFrom(root, file);
  const fingerprints = fingerprintsOf(problems, pathOf);
  const violations = problems.map((problem, index) => ({
    description: clean(messageWithSubject(problem)),
    check_name: problem.code,
    fingerprint: fingerprints[index],
    severity: problem.level === 'error' ? 'major' : 'minor',
    // a violation needs a line
    location: { path: pathOf(problem.file), lines: { begin: problem.line ?? 1 } },
  }));
  return `${JSON.stringify(violations, null, 2)}\n`;
}
