import type { Finding } from './finding.ts';

/** Milliseconds since the process started, by a clock that nobody sets. */
export const now = (): number => process.uptime() * 1000;

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
 * Looks again and again until it holds, until nothing can change it, or until `end` (see {@link now}). A plugin may
 * be late by a moment, and Istio's repair writes rules into running sandboxes: a failure is final only at the end.
 */
export async function untilHeld(end: number, look: () => Promise<Finding>): Promise<Finding> {
  for (;;) {
    const finding = await look();
    if (finding.held || finding.final || now() + pause + shortest >= end) return finding;
    await sleep(pause);
  }
}
