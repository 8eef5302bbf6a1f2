import { createHash } from 'node:crypto';
import { isErrorCode } from '../../lib/errors.ts';
import { type Fault, type Finding, nameOf, type Report, type Reviewed } from '../model.ts';

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
  return [
    ...report.faults.map((fault): Problem => ({ level: 'error', ...textOf(fault), ...placeOf(fault) })),
    ...report.reviewed.flatMap((one) => workloadProblems(one, level)),
    ...report.findings.map(
      (finding): Problem => ({
        level,
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
  const about = { subject: nameOf(workload), file: workload.document.file, line: workload.line };
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

/** Notes on a verdict. */
export function notesOn({ workload, verdict }: Reviewed): string[] {
  const { assumed = [] } = verdict;
  return [
    ...(workload.unknownKind
      ? [`${workload.kind} is not a known kind: it counts as a workload because of its spec.template`]
      : []),
    ...(assumed.length > 0 ? [`checked as if the injector of ${assumed.join(' and ')} had run`] : []),
  ];
}

/**
 * A fingerprint for each problem, by which a service recognizes it in a later report. It has no line, because lines move
 * when something else changes. Equal problems of a file are numbered, because a service shows only one of each
 * fingerprint.
 *
 * @param pathOf the path of a file in the report
 */
export function fingerprintsOf(problems: readonly Problem[], pathOf: (file: string) => string): string[] {
  const seen = new Map<string, number>();
  return problems.map(({ code, subject = '', message, file }) => {
    const identity = JSON.stringify([code, subject, message, pathOf(file)]);
    const number = seen.get(identity) ?? 0;
    seen.set(identity, number + 1);
    return createHash('sha256').update(`${identity} ${number}`).digest('hex').slice(0, 32);
  });
}
