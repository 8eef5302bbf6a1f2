import { createHash } from 'node:crypto';
import { relative, resolve, sep } from 'node:path';
import { clean } from '../../lib/clean.ts';
import { isErrorCode } from '../../lib/errors.ts';
import { standardInputName } from '../input/read.ts';
import { nameOf, type Report, type Reviewed } from '../model.ts';

/** A problem that the author of the input may have to fix. The reports for CI services consist of problems. */
export interface Problem {
  /** `error` if the problem fails the review. */
  level: 'error' | 'warning';
  /** An error code, or {@link admissionWarning} for a warning without one. */
  code: string;
  /** What the problem is about, such as `Deployment shop/web`; absent for input that cannot be read. */
  subject?: string | undefined;
  /** The subject, if there is one, and the message. */
  text: string;
  /** The path from the root of the repository, with slashes; the absolute path if the file is outside. */
  file: string;
  /** From 1; absent if the problem is about the input as a whole. */
  line?: number | undefined;
  /** From 1, in UTF-16 code units. */
  column?: number | undefined;
  /** Stays the same in later reports, so that a service recognizes a known problem. */
  fingerprint: string;
}

/** The code of a warning without an error code. */
const admissionWarning = 'admission-warning';

type Wrong = Omit<Problem, 'text' | 'fingerprint'> & { message: string };

/**
 * The problems of a report: input that cannot be read, refusals and warnings of workloads, findings.
 *
 * @param strict whether warnings and findings fail the review
 * @param root the folder to which the file names in a report are relative
 */
export function problemsOf(report: Report, strict: boolean, root: string): Problem[] {
  const level = strict ? 'error' : 'warning';
  const wrongs: Wrong[] = [
    ...report.faults.map((fault): Wrong => ({ level: 'error', ...fault })),
    ...report.reviewed.flatMap((entry) => workloadProblems(entry, level)),
    ...report.findings.map((finding): Wrong => ({ level, ...finding })),
  ];
  const seen = new Map<string, number>();
  return wrongs.map((wrong) => {
    const { code, subject, message, line, column } = wrong;
    const file = pathFrom(root, wrong.file);
    // the fingerprint has no line, which changes with every edit, but a counter: services show equal fingerprints once
    const identity = JSON.stringify([code, subject ?? '', message, file]);
    const number = seen.get(identity) ?? 0;
    seen.set(identity, number + 1);
    const fingerprint = createHash('sha256').update(`${identity} ${number}`).digest('hex').slice(0, 32);
    // the outputs show the code separately
    const said = message.replace(` (${code})`, '');
    const text = clean(subject === undefined ? said : `${subject}: ${said}`);
    return { level: wrong.level, code, subject, text, file, line, column, fingerprint };
  });
}

function workloadProblems({ workload, decision }: Reviewed, level: Problem['level']): Wrong[] {
  const { outcome, reason, message = reason, warnings } = decision;
  const about = { subject: nameOf(workload), file: workload.document.file, line: workload.line };
  const code = isErrorCode(reason) ? reason : admissionWarning;
  return [
    ...(outcome === 'refused' ? [{ level: 'error' as const, code, message, ...about }] : []),
    ...warnings.map((text) => ({ level, code, message: text, ...about })),
  ];
}

/** The root of the repository, from the predefined variables of GitHub and GitLab; elsewhere the current folder. */
export const reportRoot = ({ GITHUB_WORKSPACE, CI_PROJECT_DIR }: NodeJS.ProcessEnv): string =>
  resolve(GITHUB_WORKSPACE || CI_PROJECT_DIR || '.');

/** A file's path from the root, with slashes; the absolute path if the file is outside. */
export function pathFrom(root: string, file: string): string {
  if (file === standardInputName) return file;
  const path = relative(root, resolve(file));
  const isOutside = path === '..' || path.startsWith(`..${sep}`);
  return (isOutside ? resolve(file) : path).split(sep).join('/');
}
