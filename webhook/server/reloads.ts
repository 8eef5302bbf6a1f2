import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../errors.ts';
import type { LiveFilesOptions } from '../files/live.ts';
import type { Metrics } from './metrics.ts';

/** What can change while the server runs. */
export type ReloadSource = Parameters<Metrics['reloaded']>[0];

/** Who is told of each reload and of each change that could not be used, and how often files are looked at. */
export type Told = Pick<LiveFilesOptions<unknown>, 'interval'> & {
  onReload: () => void;
  onError: (error: unknown) => void;
};

/**
 * Tells of reloads in the log and in the metrics.
 *
 * @returns for a source, and for something to do before a reload is told
 */
export function reloadsToldTo(
  metrics: Metrics,
  log: FastifyBaseLogger,
  interval: number | undefined,
): (source: ReloadSource, first?: () => void) => Told {
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
