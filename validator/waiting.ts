import { type Finding, failed } from './finding.ts';
import { after, takeStall } from './host/loop.ts';
import { native } from './host/native.ts';

/** Milliseconds since the process started, on a monotonic clock. */
export const now = (): number => native.now();

/** Resolves after so many milliseconds. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    after(milliseconds, resolve);
  });

/** Milliseconds between two attempts: short compared with a late plugin, long compared with the cost of an attempt. */
const pause = 100;

/** The least time for an attempt, in milliseconds: a shorter one would find less than the one before it. */
const shortest = 100;

/** A program that stood still for so long, in milliseconds, may have missed what it waited for. */
const longestStall = 1000;

/**
 * One attempt at a check. Attempts are independent, so that a check can be repeated at any time.
 *
 * @param deadline when it should end (see {@link now}); it always takes the time for one attempt
 */
export type Attempt = (deadline: number) => Promise<Finding>;

/**
 * Repeats the attempt until it passes, until nothing can change the finding, or until the deadline. A plugin may be
 * late, and Istio's repair writes rules into running sandboxes: a failure is final only at the end. The last attempt of a
 * program that had no processor time shows nothing.
 */
export async function untilPassed(deadline: number, attempt: Attempt): Promise<Finding> {
  for (;;) {
    takeStall();
    const finding = await attempt(deadline);
    const stall = takeStall();
    const settled = finding.passed ? !finding.preliminary : finding.final;
    if (settled) return finding;
    if (now() + pause + shortest >= deadline) {
      if (finding.passed || stall < longestStall) return finding;
      return failed('starved', `${finding.seen}, and no processor time for ${(stall / 1000).toFixed(1)} s`);
    }
    await sleep(pause);
  }
}
