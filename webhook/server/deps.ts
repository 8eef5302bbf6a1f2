import type { Server } from 'node:https';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type Clock, type Deps, systemClock } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import type { ReloadListener } from '../lib/live-files.ts';
import { Metrics, type ReloadSource } from './metrics.ts';

/** The admission server: the Fastify instance of the HTTPS port. Its `onClose` hooks end everything else that runs. */
export type App = FastifyInstance<Server>;

/** What every part of the server gets. */
export interface ServerDeps extends Deps {
  log: FastifyBaseLogger;
  metrics: Metrics;
  /** What `/readyz` asks: why the server is not ready, or undefined. An earlier reason hides later ones. */
  ready: (() => string | undefined)[];
  /** Makes the listener that reports the reloads of a source in the log and the metrics, after it called `changed`. */
  reload: (source: ReloadSource, changed?: () => void) => ReloadListener;
}

export interface DepsOptions {
  log: FastifyBaseLogger;
  /** The clock of the machine where nothing is given. */
  clock?: Clock;
  /** Ends the start while it still waits. */
  signal?: AbortSignal;
  /** Milliseconds between two reads of watched files; the default of `LiveFiles` where nothing is given. */
  interval?: number;
}

export function serverDeps({ log, clock = systemClock, signal, interval }: DepsOptions): ServerDeps {
  const metrics = new Metrics();
  return {
    log,
    registry: metrics.registry,
    clock,
    signal: signal ?? new AbortController().signal,
    metrics,
    ready: [],
    reload: (source, changed) => ({
      ...(interval !== undefined && { interval }),
      onReload: () => {
        changed?.();
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
