import type { Server } from 'node:https';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Deps } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import type { ReloadListener } from '../lib/live-files.ts';
import { Metrics, type ReloadSource } from './metrics.ts';

/** The admission server: the Fastify instance of the HTTPS port. Its `onClose` hooks end all other parts. */
export type App = FastifyInstance<Server>;

/** The dependencies that every part of the server gets. */
export interface ServerDeps extends Deps {
  log: FastifyBaseLogger;
  metrics: Metrics;
  /** Checks for `/readyz`: each returns why the server is not ready, or undefined. The first reason is shown. */
  ready: (() => string | undefined)[];
  /** Makes a listener for reloads of a source, which logs and counts each reload, and then calls `changed`. */
  reload: (source: ReloadSource, changed?: () => void) => ReloadListener;
}

export interface DepsOptions {
  log: FastifyBaseLogger;
  /** When aborted, a server that is still waiting to start stops waiting. */
  signal?: AbortSignal;
  /** Milliseconds between two reads of watched files; by default, the interval of `LiveFiles`. */
  interval?: number;
}

export function serverDeps({ log, signal, interval }: DepsOptions): ServerDeps {
  const metrics = new Metrics();
  return {
    log,
    registry: metrics.registry,
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
