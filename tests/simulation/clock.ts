import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { numbersOf } from '../support/random.ts';

/** The time at which every simulation begins, in milliseconds since the epoch. */
export const start = Date.parse('2026-11-22T12:00:00Z');

const realTurn = setImmediate;

interface Timer {
  at: number;
  call: () => void;
}

/** A clock that only {@link Clock.run} advances, from timer to timer. Times are milliseconds since {@link start}. */
export class Clock {
  now = 0;
  /** Returns random numbers from 0 up to 1, which depend on the seed. */
  readonly random: () => number;
  /** Sorted by time; timers of the same time are in the order in which they were set. */
  readonly #timers: Timer[] = [];

  constructor(seed: number) {
    this.random = numbersOf(seed);
  }

  between = (least: number, most: number): number => least + this.random() * (most - least);

  after(ms: number, call: () => void): Timer {
    const timer = { at: this.now + Math.max(0, ms), call };
    const before = this.#timers.findLastIndex(({ at }) => at <= timer.at);
    this.#timers.splice(before + 1, 0, timer);
    return timer;
  }

  clear(timer: Timer): void {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  }

  /** Works as `setTimeout` of `node:timers/promises` does. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => {
      this.clear(timer);
      reject(signal?.reason);
    };
    const timer = this.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort);
    return promise;
  }

  async run(ms: number): Promise<void> {
    const end = this.now + ms;
    for (let [next] = this.#timers; next !== undefined && next.at <= end; [next] = this.#timers) {
      this.#timers.shift();
      this.now = next.at;
      next.call();
      // one iteration of the real event loop settles all promises that can settle
      await new Promise((resolve) => realTurn(resolve));
    }
    this.now = end;
  }
}

/** Replaces the clocks, timers and random numbers of the process, also in modules that imported them before. */
export function startClock(seed: number): Clock {
  const clock = new Clock(seed);
  Object.assign(Date, { now: () => start + clock.now });
  Object.assign(performance, { now: () => clock.now });
  Object.assign(Math, { random: clock.random });
  Object.assign(globalThis, {
    setTimeout: (call: () => void, ms: number) => Object.assign(clock.after(ms, call), { unref: () => {} }),
    clearTimeout: (timer?: Timer) => timer && clock.clear(timer),
  });
  Object.assign(timers, {
    setTimeout: (ms: number, _value?: unknown, options?: { signal?: AbortSignal }) =>
      clock.sleep(ms, options?.signal),
    setImmediate: () => clock.sleep(0),
  });
  syncBuiltinESMExports();
  return clock;
}
