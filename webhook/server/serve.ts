import fastify, { LogController } from 'fastify';
import type { CertificateSource } from '../../certs/sources.ts';
import { serverLimits } from '../lib/limits.ts';
import { type AdmissionOptions, admission } from './admission.ts';
import { type ClusterOptions, cluster } from './cluster.ts';
import { type ConfigurationOptions, configuration } from './configuration.ts';
import { type DepsOptions, type ServerDeps, serverDeps } from './deps.ts';
import { type DrainOptions, drain } from './drain.ts';
import { errorOptions } from './http-errors.ts';
import { listen } from './listen.ts';
import { type OpsOptions, ops } from './ops.ts';
import type { App } from './plugin.ts';
import { type SecureContextOptions, secureContext } from './secure-context.ts';

/** What the server is started with: the options of its plugins, and these. */
export interface ServeOptions
  extends DepsOptions,
    DrainOptions,
    ConfigurationOptions,
    OpsOptions,
    SecureContextOptions,
    ClusterOptions,
    AdmissionOptions {
  /** Address of both ports; every address of the machine where nothing is given. */
  host?: string | undefined;
  /** Port for admission requests, HTTPS. */
  port: number;
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
  const deps = serverDeps(options);
  const { log } = deps;
  const parts = { ...options, deps };
  const app = createApp(deps, options.clientCa !== undefined);
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

/**
 * The instance of the HTTPS port, without plugins: HTTP/1.1 with the time limits of the server. It has no certificate
 * until the plugin `secure-context` sets one.
 *
 * @param requestCert whether callers are asked for a certificate. A caller without one gets an answer that says so,
 *   instead of a failed handshake
 */
export function createApp({ log, metrics }: Pick<ServerDeps, 'log' | 'metrics'>, requestCert: boolean): App {
  return fastify({
    https: {
      // of a connection that waits for its handshake, only the first bytes are read: TLS has its own buffers
      highWaterMark: 1,
      headersTimeout: serverLimits.headersTimeout,
      requestTimeout: serverLimits.requestTimeout,
      connectionsCheckingInterval: serverLimits.timeoutCheck,
      // Node would answer by itself, with no bound on how many stand one behind the other
      requireHostHeader: false,
      ...(requestCert && { requestCert: true, rejectUnauthorized: false }),
    },
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    keepAliveTimeout: serverLimits.keepAliveTimeout,
    // without any bytes, such as one that reads no answer
    connectionTimeout: serverLimits.keepAliveTimeout,
    requestTimeout: serverLimits.requestTimeout,
    ...errorOptions(metrics),
    // while the server closes, a request on an open connection is still answered
    return503OnClosing: false,
    // a plugin may wait for the certificate as long as it takes
    pluginTimeout: 0,
  });
}
