/** Milliseconds. */
export interface LeaseTimes {
  /** After so long without a change of the Lease, others may take it. Whole seconds. */
  duration: number;
  /** After so long without a renewal that worked, the holder counts itself out. Shorter than the duration. */
  deadline: number;
  /** Between two looks. */
  retry: number;
}

/** The usual ones of client-go's leader election. */
export const defaultTimes: LeaseTimes = { duration: 15_000, deadline: 10_000, retry: 2000 };
