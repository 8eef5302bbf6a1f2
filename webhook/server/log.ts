import { type DestinationStream, type Logger, pino } from 'pino';

/** The server's log, with `level` as a word and `time` in ISO 8601, as log collectors expect. */
export function openLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
