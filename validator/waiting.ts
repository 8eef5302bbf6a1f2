import type { Finding } from './finding.ts';

/** Milliseconds since the process started, by a clock that nobody sets. */
export const now = (): number => process.uptime() * 1000;

/** Resolves after so many milliseconds. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Lets everything be handled that the kernel has to tell, so that a timer of a starved process decides nothing. */
export const afterPending = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Between two looks: short beside what a late plugin takes, long beside what a look costs. */
const pause = 100;

/** A look that gets less time than this would tell less than the one before it. */
const shortest = 100;

/**
 * One attempt at a check. Each stands for itself, so that a check can be repeated at any time.
 *
 * @param deadline when it should be over (see {@link now}); it always takes the time for one look
 */
export type Attempt = (deadline: number) => Promise<Finding>;

/**
 * Repeats the attempt until it passes, until nothing can change the finding, or until the deadline. A plugin may be
 * late by a moment, and Istio's repair writes rules into running sandboxes: a failure is final only at the end.
 */
export async function untilPassed(deadline: number, attempt: Attempt): Promise<Finding> {
  for (;;) {
    const finding = await attempt(deadline);
    const settled = finding.passed ? !finding.preliminary : finding.final;
    if (settled || now() + pause + shortest >= deadline) return finding;
    await sleep(pause);
  }
}
