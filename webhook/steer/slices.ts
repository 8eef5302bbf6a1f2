import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../lib/limits.ts';
import { type Pausing, Work } from './work.ts';

/** The clock is read after so many steps. */
const stepsPerClockRead = 1000;

/** The result of work in slices. */
export interface Sliced<T> {
  value: T;
  /** How long all slices took, in milliseconds. */
  busy: number;
}

/**
 * Does work in short slices and leaves the event loop to others between them: admission calls and the renewal of the
 * Lease must not wait for it.
 *
 * @param begin begins the work, and counts its steps
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
    await nextTurn();
    signal.throwIfAborted();
  }
}

/**
 * How long to rest after work that kept the CPU busy: ten times as long, so that the work gets about a tenth of the
 * time, and `planLimits.longestRest` at most. Milliseconds.
 */
export const restAfter = (busy: number): number => Math.min(10 * busy, planLimits.longestRest);
