import type { Log } from './deps.ts';
import { CniGateError, messageOf } from './errors.ts';

/** Milliseconds until a failure of the same kind is logged again. */
const again = 600_000;

/** Logs failures. A failure of the same kind as the last one is logged only after a pause. @param every milliseconds */
export function logOnce(log: Log, every = again) {
  let last: { kind: string; at: number } | undefined;
  return {
    /** @param kind equal for failures of which only the first is to be logged */
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

/** The kind of an error: its code, or its message where it has none. */
export const kindOfError = (error: unknown): string =>
  error instanceof CniGateError ? error.code : messageOf(error);
