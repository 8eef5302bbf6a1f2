import type { Result } from './finding.ts';
import { reasons } from './reasons.ts';
import { exitCode } from './shared/contract.ts';

/** The verdict in one word. The words are as stable as the exit codes. */
export type VerdictWord = 'proved' | 'failed' | 'unproved' | 'wrong-usage' | 'stopped';

/** The result of a proof, and the exit code that stands for it. */
export interface Verdict {
  verdict: VerdictWord;
  code: number;
}

/** A failed check takes precedence over one that could not be made. */
export function verdictOf(results: Result[]): Verdict {
  const codes = results.flatMap(({ finding }) => (finding.passed ? [] : [reasons[finding.reason].code]));
  if (codes.length === 0) return { verdict: 'proved', code: exitCode.proved };
  if (codes.includes(exitCode.failed)) return { verdict: 'failed', code: exitCode.failed };
  return { verdict: 'unproved', code: exitCode.unproved };
}

/** In warn mode the pod starts whatever the result is; the code of a signal stays. */
export function exitCodeFor({ verdict, code }: Verdict, warn: boolean): number {
  return warn && verdict !== 'stopped' ? exitCode.proved : code;
}

/** The network namespace and boot of a verdict: a proof is valid for a sandbox, not for a pod. */
export interface Sandbox {
  /** Inode of the network namespace; numbers repeat after a reboot. */
  netns: string;
  bootId: string;
}

/** The result of a run. */
export interface Report extends Verdict {
  warn: boolean;
  sandbox: Sandbox;
  /** From the start of the process to the verdict. */
  seconds: number;
  results: Result[];
  /** A problem other than a failed check: wrong usage, or a signal. */
  problem?: string;
}
