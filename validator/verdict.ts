import type { Result } from './finding.ts';
import { reasons } from './reasons.ts';
import type { Sandbox } from './sandbox.ts';
import { exitCode } from './shared/contract.ts';

/** How it ended, in one word; the words are as stable as the exit codes that they stand for. */
export type VerdictWord = 'proved' | 'failed' | 'unproved' | 'wrong-usage' | 'stopped';

/** The result of a proof, and the exit code that stands for it. */
export interface Verdict {
  verdict: VerdictWord;
  code: number;
}

/** A network that is not what it should be weighs more than a proof that could not be made. */
export function verdictOf(results: Result[]): Verdict {
  const codes = results.flatMap(({ finding }) => (finding.passed ? [] : [reasons[finding.reason].code]));
  if (codes.length === 0) return { verdict: 'proved', code: exitCode.proved };
  if (codes.includes(exitCode.failed)) return { verdict: 'failed', code: exitCode.failed };
  return { verdict: 'unproved', code: exitCode.unproved };
}

/** In warn mode the pod starts whatever was found; a signal is no finding, and stays what it is. */
export function exitCodeFor({ verdict, code }: Verdict, warn: boolean): number {
  return warn && verdict !== 'stopped' ? exitCode.proved : code;
}

/** All that the program has to say at its end. */
export interface Report extends Verdict {
  warn: boolean;
  sandbox: Sandbox;
  /** From the start of the process to the verdict. */
  seconds: number;
  results: Result[];
  /** What went wrong besides checks: wrong usage, or a signal. */
  problem?: string;
}
