import type { FastifyBaseLogger } from 'fastify';
import { type Clock, type Deps, systemClock } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import type { ReloadListener } from '../lib/live-files.ts';
import { Metrics, type ReloadSource } from './metrics.ts';

/** What every plugin of the server gets. */
export interface ServerDeps extends Deps {
  log: FastifyBaseLogger;
  metrics: Metrics;
  /** What `/readyz` asks. The reason of an earlier check hides those of later ones. */
  ready: ReadyCheck[];
  /** Makes the listener that reports the reloads of a source in the log and the metrics. */
  reload: (source: ReloadSource) => ReloadListener;
}

/** What {@link ServerDeps} are made of. */
export interface DepsOptions {
  log: FastifyBaseLogger;
  /** The clock of the machine where nothing is given. */
  clock?: Clock;
  /** Ends the start while it still waits. */
  signal?: AbortSignal;
  /** Milliseconds between two reads of watched files; the default of `LiveFiles` where nothing is given. */
  interval?: number;
}

/** Makes what the plugins of one server share. */
export function serverDeps({ log, clock = systemClock, signal, interval }: DepsOptions): ServerDeps {
  const metrics = new Metrics();
  return {
    log,
    registry: metrics.registry,
    clock,
    signal: signal ?? new AbortController().signal,
    metrics,
    ready: [],
    reload: (source) => ({
      ...(interval !== undefined && { interval }),
      onReload: () => {
        metrics.reloaded(source, 'success');
        log.info({ source }, 'reloaded');
      },
      onError: (error) => {
        metrics.reloaded(source, 'failure');
        log.error({ source, err: error }, `the last good ${source} stays in force: ${messageOf(error)}`);
      },
    }),
  };
}

/** Says why the server should not receive requests now, for people; undefined when it may. */
export type ReadyCheck = () => string | undefined;
