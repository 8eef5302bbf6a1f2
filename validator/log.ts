import type { Result } from './finding.ts';
import { codeOf, native } from './host/native.ts';
import { reasons } from './reasons.ts';
import { exitCode } from './shared/contract.ts';
import { exitCodeFor, type Report } from './verdict.ts';

/** Writes a line to the container's log. */
export const log = (text: string): void => native.write(1, `${text}\n`.toWellFormed());

/** Writes the termination message. An error is only logged, because it says nothing about the network. */
export function leaveMessage(path: string, message: string): void {
  try {
    native.writeFile(path, `${message}\n`.toWellFormed());
  } catch (error) {
    native.write(2, `cannot write the termination message to ${path}: ${codeOf(error)}\n`.toWellFormed());
  }
}

export function sentenceOn({ profile, check, family, expected, finding }: Result): string {
  const name = `${profile}: ${nameOf(check, family)}`;
  if (finding.passed) {
    const note = finding.note === undefined ? '' : ` Note: ${finding.note}.`;
    return `${name} passed: expected ${expected}; saw ${finding.seen}.${note}`;
  }
  const { reason, seen } = finding;
  const ended = reasons[reason].code === exitCode.failed ? 'failed' : 'could not be proved';
  return `${name} ${ended} (${reason}): expected ${expected}; saw ${seen}. ${reasons[reason].advice}`;
}

export function verdictSentence(report: Report): string {
  const { verdict, code, seconds, results, problem, warn } = report;
  const after = `after ${seconds.toFixed(3)} s`;
  const exit = exitCodeFor(report, warn);
  const instead = exit === code ? '' : `; proof.mode is warn, so the exit code is ${exit} and the pod starts`;
  const failures = results.flatMap((it) => (it.finding.passed ? [] : `${named(it)} ${it.finding.reason}`));
  const causes = [...(problem === undefined ? [] : [problem]), ...failures];
  const because = causes.length === 0 ? '' : `: ${causes.join('; ')}`;
  // the verdict's line alone must show that something was not checked
  const notes = results.filter(({ finding }) => finding.passed && finding.note !== undefined).map(named);
  const noted = causes.length > 0 || notes.length === 0 ? '' : `, with a note on ${notes.join(', ')}`;
  return `verdict: ${verdict} (${code}) ${after}${because}${noted}${instead}.`;
}

function nameOf(check: string, family: string | undefined): string {
  return family === undefined ? check : `${check} ${family}`;
}

/** The check of a result, with its profile. */
export const named = ({ profile, check, family }: Result): string => `${profile} ${nameOf(check, family)}`;
