import type { Result } from './finding.ts';
import { reasons } from './reasons.ts';
import { exitCode } from './shared/contract.ts';
import { fitText, inBytes } from './shared/fit-text.ts';
import type { CheckResult, Sandbox, TerminationMessage, VerdictWord } from './shared/message.ts';

/** The verdict of a proof, and its exit code. */
export interface Verdict {
  verdict: VerdictWord;
  code: number;
}

/** The verdict for these results. A failed check outweighs a check that could not be made. */
export function verdictOf(results: Result[]): Verdict {
  const codes = results.flatMap(({ finding }) => (finding.passed ? [] : [reasons[finding.reason].code]));
  if (codes.length === 0) return { verdict: 'passed', code: exitCode.passed };
  if (codes.includes(exitCode.failed)) return { verdict: 'failed', code: exitCode.failed };
  return { verdict: 'not-possible', code: exitCode.notPossible };
}

/** The exit code of the process. In warn mode it is 0, so that the pod starts, unless a signal ended the proof. */
export function exitCodeFor({ verdict, code }: Verdict, warn: boolean): number {
  return warn && verdict !== 'stopped' ? exitCode.passed : code;
}

/** The verdict of a run, with the details for messages. */
export interface Report extends Verdict {
  warn: boolean;
  sandbox: Sandbox;
  /** Seconds from the start of the process to the verdict. */
  seconds: number;
  results: Result[];
  /** A problem other than a failed check: wrong usage, or a signal. */
  problem?: string;
}

/**
 * The maximum length of a message in bytes, with the line break at the end. The kubelet keeps 12 KiB for all containers
 * of a pod (`normalizeStatus` of the status manager), which is 1 KiB for each of twelve containers.
 */
const mostBytes = 1024;

/** The size of a character in JSON, where an escaped character has up to six bytes. */
const inJson = (character: string): number => inBytes(JSON.stringify(character)) - 2;

/** What a message that is too long leaves out, step by step: the names and reasons of failed checks stay longest. */
const cuts: { field: 'expected' | 'seen' | 'note'; ofPassed?: true }[] = [
  { field: 'expected', ofPassed: true },
  { field: 'seen', ofPassed: true },
  { field: 'note' },
  { field: 'expected' },
  { field: 'seen' },
];

/** The termination message: one line of JSON. */
export function terminationMessage(report: Report): string {
  const { verdict, code, warn, sandbox, seconds, problem, results } = report;
  const head: Omit<TerminationMessage, 'checks'> = {
    verdict,
    code,
    ...(warn && { mode: 'warn' as const }),
    sandbox,
    seconds: Math.round(seconds * 1000) / 1000,
    ...(results.some(({ finding }) => finding.passed && finding.wayNotShown) && {
      wayNotShown: true as const,
    }),
    ...(problem !== undefined && { problem: fitText(problem, 300, inJson) }),
  };
  const lineOf = (checks: CheckResult[]): string => {
    const more = results.length - checks.length;
    return JSON.stringify({ ...head, checks, ...(more > 0 && { more }) } satisfies TerminationMessage);
  };
  let entries = results.map(entryOf);
  for (const { field, ofPassed } of cuts) {
    if (fits(lineOf(entries))) return lineOf(entries);
    entries = entries.map((entry) => {
      const { [field]: _, ...rest } = entry;
      return ofPassed && !entry.passed ? entry : rest;
    });
  }
  if (!fits(lineOf(entries))) entries = entries.filter(({ passed }) => !passed);
  while (entries.length > 0 && !fits(lineOf(entries))) entries = entries.slice(0, -1);
  return lineOf(entries);
}

const fits = (text: string): boolean => text.length < mostBytes && inBytes(`${text}\n`) <= mostBytes;

function entryOf({ profile, check, family, expected, finding }: Result): CheckResult {
  return {
    profile,
    check,
    ...(family !== undefined && { family }),
    passed: finding.passed,
    ...(!finding.passed && { reason: finding.reason }),
    expected,
    seen: finding.seen,
    ...(finding.passed && finding.note !== undefined && { note: finding.note }),
  };
}
