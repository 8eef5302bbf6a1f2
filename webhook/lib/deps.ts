import type { Registry } from 'prom-client';

/** The methods of the log. Each takes facts for machines, and a sentence for people. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Where the time comes from. A test provides its own clock. */
export interface Clock {
  /** The time of day, in milliseconds since the epoch. It can jump and go back. */
  now(): number;
  /** Milliseconds since some moment in the past. It never goes back, so use it for durations. */
  monotonicNow(): number;
}

/** The clock of this machine. */
export const systemClock: Clock = { now: () => Date.now(), monotonicNow: () => performance.now() };

/** What every long-running part of the server needs. */
export interface Deps {
  log: Log;
  /** Where the part registers its metrics. */
  registry: Registry;
  clock: Clock;
  /** Aborted when the process has to stop. Ends waits during the start; the server still answers while it drains. */
  signal: AbortSignal;
}
