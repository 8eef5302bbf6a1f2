import { type DestinationStream, type Logger, pino } from 'pino';
import { logBuffer } from '../lib/limits.ts';

/**
 * The server's log. As log collectors expect, `level` is a word and `time` is in ISO 8601. Lines wait in memory if
 * standard output is read slowly: pino would otherwise block the event loop, and so admission, for 100 ms at a time.
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
