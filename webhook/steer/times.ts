/** Milliseconds. */
export interface SteerTimes {
  /** From a nomination that was ignored to the next of that pod, or of its group; each further one doubles it. */
  pause: number;
  longestPause: number;
  /** For how long at least a pod is not nominated again for a node where that was ignored, whatever changes there. */
  avoid: number;
  /**
   * A nomination that is gone after no more than this may have raced with a try of the scheduler that was under way
   * and did not see it. It is made once more.
   */
  raceWindow: number;
  /** The scheduler looks at a pod again after 11 s at most: who leaves a nomination alone for this long goes by none. */
  expiry: number;
}

export const defaultTimes: SteerTimes = {
  pause: 10_000,
  longestPause: 300_000,
  avoid: 600_000,
  raceWindow: 1000,
  expiry: 60_000,
};

/** The pause after so many nominations in a row that were ignored. */
export const pauseAfter = (ignored: number, { pause, longestPause }: SteerTimes): number =>
  Math.min(pause * 2 ** (ignored - 1), longestPause);
