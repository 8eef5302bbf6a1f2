import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../lib/limits.ts';

/**
 * Looks at many items, and leaves the event loop to others in between: admission calls and the renewal of the Lease must
 * not wait for it.
 *
 * @param stepsOf how many steps an item takes at most; a step is about one comparison
 * @returns how many steps it took
 * @throws the signal's reason, once it is aborted
 */
export async function inSlices<T>(
  items: Iterable<T>,
  stepsOf: (item: T) => number,
  look: (item: T) => void,
  signal: AbortSignal,
): Promise<number> {
  let [total, slice] = [0, 0];
  for (const item of items) {
    const steps = stepsOf(item);
    if (slice > 0 && slice + steps > planLimits.sliceSteps) {
      slice = 0;
      await nextTurn();
      signal.throwIfAborted();
    }
    look(item);
    total += steps;
    slice += steps;
  }
  return total;
}
