import { isErrorCode } from '../../lib/errors.ts';
import { type Fault, type Finding, lineOf, type Report, type Reviewed, refusalsOf } from '../model.ts';
import { nameOf } from '../name.ts';

/** Something in the input that its author may have to change: what reports of code reviews show. */
export interface Problem {
  /** Whether it fails the review. */
  level: 'error' | 'warning';
  /** An error code, or {@link admissionWarning} for a warning without one. */
  code: string;
  /** What it is about, such as `Deployment shop/web`; absent for an input that cannot be read. */
  subject?: string;
  message: string;
  file: string;
  /** From 1; absent if the input as a whole is meant. */
  line?: number;
  /** From 1, in UTF-16 code units. */
  column?: number;
}

/** The code of a warning of the cluster, which has no error code of its own. */
export const admissionWarning = 'admission-warning';

/**
 * The problems of a report, in the order of outcomes: input that cannot be read, then refusals and warnings of
 * workloads, then findings.
 *
 * @param strict whether warnings and findings fail the review
 */
export function problemsOf(report: Report, strict: boolean): Problem[] {
  const level = strict ? 'error' : 'warning';
  const refusals = refusalsOf(report);
  return [
    ...report.faults.map((fault): Problem => ({ level: 'error', ...textOf(fault), ...placeOf(fault) })),
    ...report.reviewed
      .filter(({ workload }) => !refusals.has(workload))
      .flatMap((one) => workloadProblems(one, level)),
    ...report.findings.map(
      (finding): Problem => ({
        level: finding.refuses === undefined ? level : 'error',
        ...textOf(finding),
        subject: finding.subject,
        ...placeOf(finding),
      }),
    ),
  ];
}

function workloadProblems(one: Reviewed, level: Problem['level']): Problem[] {
  const { workload, verdict } = one;
  const { outcome, reason, message, warnings } = verdict;
  const about = { subject: nameOf(workload), file: workload.document.file, line: lineOf(one) };
  // admission may be a server of another release, whose reasons are not known here
  const code = isErrorCode(reason) ? reason : admissionWarning;
  return [
    ...(outcome === 'refused'
      ? [{ level: 'error', code, message: message ?? reason, ...about } satisfies Problem]
      : []),
    ...warnings.map((text): Problem => ({ level, code, message: text, ...about })),
  ];
}

const textOf = ({ code, message }: Fault | Finding): Pick<Problem, 'code' | 'message'> => ({ code, message });

const placeOf = ({ file, line, column }: Fault | Finding): Pick<Problem, 'file' | 'line' | 'column'> => ({
  file,
  ...(line !== undefined && { line }),
  ...(column !== undefined && { column }),
});

/** The text of a problem with its subject. */
export const messageWithSubject = ({ subject, message }: Problem): string =>
  subject === undefined ? message : `${subject}: ${message}`;
