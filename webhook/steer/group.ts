import { pauseAfter, type SteerTimes } from './times.ts';

/** So many nominations of a group may be open at a time once it is known that they work. */
const widest = 64;

/**
 * How pods of one controller fare with nominations. They are alike, so what one of them learned holds for the others:
 * after one that was ignored the whole group pauses. Of pods whose constraints only the scheduler can judge, one is tried
 * first, and twice as many after each that worked.
 */
export class Group {
  #window = 1;
  #ignored = 0;
  #notBefore = Number.NEGATIVE_INFINITY;

  /** When the next may be made, milliseconds since the epoch. */
  get notBefore(): number {
    return this.#notBefore;
  }

  /** How many may be open at a time. */
  width(unverifiable: boolean): number {
    return unverifiable ? this.#window : Number.POSITIVE_INFINITY;
  }

  /** One of its nominations came true: whatever others did, they work now. */
  worked(): void {
    this.#notBefore = Number.NEGATIVE_INFINITY;
    this.#window = Math.min(this.#window * 2, widest);
    this.#ignored = 0;
  }

  /** One was ignored. Those that were ignored with it, while the group pauses already, are the same failure. */
  failed(now: number, times: SteerTimes): void {
    this.#window = 1;
    if (this.#notBefore <= now) this.#ignored += 1;
    this.#notBefore = now + pauseAfter(this.#ignored, times);
  }
}
