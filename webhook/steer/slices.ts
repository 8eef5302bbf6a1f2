import { setImmediate as othersTurn } from 'node:timers/promises';
import { planLimits } from '../lib/limits.ts';
import { type Pausing, Work } from './work.ts';

/** After so many steps the clock is asked whether a slice is over. */
const stepsPerClockRead = 1000;

/** What came of work that was done in slices. */
export interface Sliced<T> {
  value: T;
  /** How long the slices took together, in milliseconds. */
  busy: number;
}

/**
 * Does work in short slices, and lets everything else on the event loop have its turn between them: admission calls
 * and the renewal of the Lease must not wait for it.
 *
 * @param begin begins the work, and counts it with what it is handed
 * @throws the signal's reason, once it is aborted
 */
export async function inSlices<T>(
  begin: (work: Work) => Pausing<T>,
  signal: AbortSignal,
): Promise<Sliced<T>> {
  const { sliceSteps, sliceTime } = planLimits;
  let [began, steps, nextRead] = [performance.now(), 0, stepsPerClockRead];
  let busy = 0;
  const isOver = (more: number): boolean => {
    steps += more;
    if (steps >= sliceSteps) return true;
    if (steps < nextRead) return false;
    nextRead = steps + stepsPerClockRead;
    return performance.now() - began >= sliceTime;
  };
  const pausing = begin(new Work(isOver));
  for (;;) {
    [began, steps, nextRead] = [performance.now(), 0, stepsPerClockRead];
    const step = pausing.next();
    busy += performance.now() - began;
    if (step.done === true) return { value: step.value, busy };
    await othersTurn();
    signal.throwIfAborted();
  }
}

/**
 * How long to leave the CPU to others after work that took so long: ten times as long, so that the work gets about a
 * tenth of the time, and never longer than `planLimits.longestRest`. In milliseconds.
 */
export const restAfter = (busy: number): number => Math.min(10 * busy, planLimits.longestRest);
