import type { Registry } from 'prom-client';

/** The log's methods. Each takes structured fields, and a sentence for people. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What every long-running part of the server needs. */
export interface Deps {
  log: Log;
  /** Where the part registers its metrics. */
  registry: Registry;
  /** Aborted when the process has to stop. This interrupts a start, but a server that drains still answers requests. */
  signal: AbortSignal;
}
