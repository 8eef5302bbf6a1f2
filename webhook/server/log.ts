import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * The server's log: one JSON object a line, with `level` as a word (`info`) and `time` in ISO 8601 and UTC, as log
 * collectors expect. By default pino writes numbers for both.
 *
 * @param level the least level to log
 * @param destination standard output where nothing is given
 */
export function openLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
