import type { Registry } from 'prom-client';

/** The log's methods. Each takes structured fields, and a sentence for people. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** The source of time, which tests replace. */
export interface Clock {
  /** The time of day, in milliseconds since the epoch. It can jump and go back. */
  now(): number;
  /** Milliseconds since an arbitrary moment. It never goes back, so use it for durations. */
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
  /** Aborted when the process has to stop. It ends waits during the start; a server that drains still answers. */
  signal: AbortSignal;
}
