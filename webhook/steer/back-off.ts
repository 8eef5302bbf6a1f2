/** Milliseconds. */
export interface SteerTimes {
  /** The pause after the first ignored nomination of a pod or of its group. Each further one doubles it. */
  pause: number;
  longestPause: number;
  /** How long a pod is not nominated again for a node for which the scheduler ignored a nomination. */
  avoid: number;
  /**
   * A nomination that is cleared within this time may have raced with an attempt of the scheduler that had begun
   * before. It is made once more.
   */
  raceWindow: number;
  /** The scheduler retries a pod after 11 s at most. One that leaves a nomination for this long does not use it. */
  expiry: number;
}

/** The times that the leader uses. */
export const defaultTimes: SteerTimes = {
  pause: 10_000,
  longestPause: 300_000,
  avoid: 600_000,
  raceWindow: 1000,
  expiry: 60_000,
};

/** Pauses after failures, each twice as long as the one before. Times are milliseconds since the epoch. */
export class BackOff {
  readonly #times: Pick<SteerTimes, 'pause' | 'longestPause'>;
  #failures = 0;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(times: Pick<SteerTimes, 'pause' | 'longestPause'>) {
    this.#times = times;
  }

  /** Failures since the last success, of which those in one pause count once. */
  get failures(): number {
    return this.#failures;
  }

  /** The end of the pause; in the past where there is none. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** A failure. One during a pause belongs to the failure that began the pause. */
  failed(now: number): void {
    const { pause, longestPause } = this.#times;
    if (this.#notBefore <= now) this.#failures += 1;
    this.#notBefore = now + Math.min(pause * 2 ** (this.#failures - 1), longestPause);
  }

  worked(): void {
    this.#failures = 0;
    this.#notBefore = Number.NEGATIVE_INFINITY;
  }
}

/** The largest number of open nominations of a group of unverifiable pods. */
const largestWindow = 64;

/**
 * What the pods of one controller learn from each other, as they are alike. After an ignored nomination all of them
 * pause. If only the scheduler can judge their constraints, one is tried first, and twice as many after each success.
 */
export class Group {
  readonly backOff: BackOff;
  /** How many nominations are open. */
  open = 0;
  /** How many may be open if only the scheduler can judge the pods. */
  window = 1;

  constructor(times: SteerTimes) {
    this.backOff = new BackOff(times);
  }

  /** A nomination worked, so others may work too, whatever happened before. */
  worked(): void {
    this.backOff.worked();
    this.window = Math.min(this.window * 2, largestWindow);
  }

  /** The scheduler ignored a nomination. */
  failed(now: number): void {
    this.backOff.failed(now);
    this.window = 1;
  }
}
