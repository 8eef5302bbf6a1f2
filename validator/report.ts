import type { Result } from './finding.ts';
import type { Sandbox } from './sandbox.ts';
import type { Verdict } from './verdict.ts';

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
