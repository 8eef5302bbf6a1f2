import { type DestinationStream, type Logger, pino } from 'pino';
import { logBuffer } from '../lib/limits.ts';

/**
 * The server's log, with `level` as a word and `time` in ISO 8601, as log collectors expect. Lines wait in memory for a
 * slow reader of standard output: pino would otherwise stop the event loop, and with it admission, for 100 ms at a time.
 */
export function openLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  const options = {
    level,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return pino(options, destination);
}

const standardOutput = (): DestinationStream =>
  pino.destination({ dest: 1, sync: false, minLength: 0, maxLength: logBuffer });
