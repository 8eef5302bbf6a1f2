import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../lib/errors.ts';
import type { ReloadListener } from '../lib/live-files.ts';
import type { Metrics, ReloadSource } from './metrics.ts';

/**
 * Makes listeners that report reloads in the log and in the metrics.
 *
 * @param interval milliseconds between two looks at files; the default of {@link LiveFiles} where nothing is given
 * @returns makes the listener of a source
 */
export function reloadReports(
  metrics: Metrics,
  log: FastifyBaseLogger,
  interval: number | undefined,
): (source: ReloadSource) => ReloadListener {
  return (source) => ({
    ...(interval !== undefined && { interval }),
    onReload: () => {
      metrics.reloaded(source, 'success');
      log.info({ source }, 'reloaded');
    },
    onError: (error) => {
      metrics.reloaded(source, 'failure');
      log.error({ source, err: error }, `the last good ${source} stays in force: ${messageOf(error)}`);
    },
  });
}
