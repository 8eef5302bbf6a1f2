import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../lib/errors.ts';
import type { ReloadListener } from '../lib/live-files.ts';
import type { Metrics } from './metrics.ts';

/** What can change while the server runs. */
export type ReloadSource = Parameters<Metrics['reloaded']>[0];

/**
 * Tells of reloads in the log and in the metrics.
 *
 * @returns for a source, and for something to do before a reload is told
 */
export function reloadListeners(
  metrics: Metrics,
  log: FastifyBaseLogger,
  interval: number | undefined,
): (source: ReloadSource, first?: () => void) => ReloadListener {
  return (source, first) => ({
    ...(interval !== undefined && { interval }),
    onReload: () => {
      first?.();
      metrics.reloaded(source, 'success');
      log.info({ source }, 'reloaded');
    },
    onError: (error) => {
      metrics.reloaded(source, 'failure');
      log.error({ source, err: error }, `the last good ${source} stays in force: ${messageOf(error)}`);
    },
  });
}
