import type { FastifyBaseLogger } from 'fastify';
import { type Clock, systemClock } from '../lib/deps.ts';
import { type AdmissionOptions, admission } from './admission.ts';
import { createApp } from './app.ts';
import { type ClusterOptions, cluster } from './cluster.ts';
import { type ConfigurationOptions, configuration } from './configuration.ts';
import { type DrainOptions, drain } from './drain.ts';
import { listen } from './listen.ts';
import { Metrics } from './metrics.ts';
import { type OpsOptions, ops } from './ops.ts';
import type { ServerDeps } from './plugin.ts';
import { ReadyChecks } from './ready-checks.ts';
import { reloadReports } from './reloads.ts';
import { type SecureContextOptions, secureContext } from './secure-context.ts';
import type { CertificateSource } from './tls.ts';

/** What the server is started with: the options of its plugins, and these. */
export interface ServeOptions
  extends DrainOptions,
    ConfigurationOptions,
    OpsOptions,
    SecureContextOptions,
    ClusterOptions,
    AdmissionOptions {
  log: FastifyBaseLogger;
  /** The machine's where nothing is given. */
  clock?: Clock;
  /** Ends the start while it still waits. */
  signal?: AbortSignal;
  /** Address of both ports; every address of the machine where nothing is given. */
  host?: string | undefined;
  /** Port for admission requests, HTTPS. */
  port: number;
  /** Milliseconds between two looks at files. */
  interval?: number;
}

/** A server that answers. */
export interface RunningServer {
  port: number;
  opsPort: number;
  certificate: CertificateSource;
  /** Becomes unready, answers the requests that still run, closes both ports, and stops everything. */
  drain(): Promise<void>;
}

/**
 * Starts the admission server and the port for probes and metrics.
 *
 * @throws CniGateError where the configuration, the certificate or a port cannot be used; the signal's reason where it
 *   is aborted first. Nothing runs then
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const deps = depsOf(options);
  const { log } = deps;
  const parts = { ...options, deps };
  const app = createApp(log, options.clientCa !== undefined);
  // The server starts in this order, and then opens its port. It stops in the reverse order: the port first, then,
  // when the last request is answered, what the plugins keep.
  app
    .register(drain, parts)
    .register(configuration, parts)
    .register(ops, parts)
    .register(secureContext, parts)
    .register(cluster, parts)
    .register(admission, parts);
  try {
    await app.ready();
    const port = await listen(app, options.host, options.port, '--port');
    const { opsPort, certificate, policy } = app;
    const profiles = [...policy.current().profiles.keys()];
    log.info({ port, opsPort, profiles }, 'serving admission reviews');
    return { port, opsPort, certificate, drain: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function depsOf({ log, clock = systemClock, signal, interval }: ServeOptions): ServerDeps {
  const metrics = new Metrics();
  return {
    log,
    registry: metrics.registry,
    clock,
    signal: signal ?? new AbortController().signal,
    metrics,
    ready: new ReadyChecks(),
    reload: reloadReports(metrics, log, interval),
  };
}
