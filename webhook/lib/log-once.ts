import type { Log } from './deps.ts';
import { CniGateError, messageOf } from './errors.ts';

/** After this many milliseconds, the same kind of failure is logged again. */
const again = 600_000;

/** Logs a failure, unless the last logged failure had the same kind and is less than `every` ms old. */
export function logOnce(log: Log, every = again) {
  let last: { kind: string; at: number } | undefined;
  return {
    /** @param kind the same for failures of which only the first should be logged */
    warn(kind: string, facts: object, text: string): void {
      const now = performance.now();
      if (last?.kind === kind && now - last.at < every) return;
      last = { kind, at: now };
      log.warn(facts, text);
    },
    /** Call it when the operation has succeeded, so that the next failure is logged. */
    over(): void {
      last = undefined;
    },
  };
}

/** The kind of an error: its code, or its message if the error has no code. */
export const kindOfError = (error: unknown): string =>
  error instanceof CniGateError ? error.code : messageOf(error);
