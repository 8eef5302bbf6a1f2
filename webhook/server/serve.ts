import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { livePolicy, readPolicy } from '../config/file.ts';
import type { Policy } from '../config/policy.ts';
import { messageOf } from '../errors.ts';
import { buildApp } from './app.ts';
import { listen } from './listen.ts';
import { Metrics } from './metrics.ts';
import { type NamespaceSource, openNamespaces } from './namespaces.ts';
import { buildOps } from './ops.ts';
import { type CertificateEvents, type CertificateSource, secureOptions } from './tls.ts';

export interface ServeOptions {
  log: FastifyBaseLogger;
  /** Configuration file; the built-in defaults where there is none. */
  config?: string | undefined;
  /** File of Kubernetes objects whose Namespaces give the labels. */
  clusterState?: string | undefined;
  /** Another source of namespaces, in place of the file and the flag; it gets the server's metrics and log. */
  namespaces?: ((inside: { registry: Registry; log: FastifyBaseLogger }) => NamespaceSource) | undefined;
  /** Opts every namespace in, in place of its own label. */
  profile?: string | undefined;
  /** The namespace that cni-gate runs in: its pods are left alone. */
  ownNamespace?: string | undefined;
  host?: string | undefined;
  port: number;
  opsPort: number;
  /** Milliseconds between "not ready" and the closing of the port: endpoints need time to go. */
  drainDelay: number;
  /** Milliseconds from the start of the drain until open connections are cut. */
  drainTimeout: number;
  certificate: (events: CertificateEvents) => Promise<CertificateSource>;
  /** Milliseconds between two looks at files. */
  interval?: number;
}

export interface RunningServer {
  port: number;
  opsPort: number;
  certificate: CertificateSource;
  /** Stops taking calls, answers those that are under way, and closes. */
  drain(): Promise<void>;
}

/**
 * Starts the admission server and the port for probes and metrics.
 *
 * @throws CniGateError where the configuration, the certificate or a port cannot be used
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { log } = options;
  const metrics = new Metrics();
  const told = (source: Parameters<Metrics['reloaded']>[0]) => ({
    ...(options.interval !== undefined && { interval: options.interval }),
    onReload: () => {
      metrics.reloaded(source, 'success');
      log.info({ source }, 'reloaded');
    },
    onError: (error: unknown) => {
      metrics.reloaded(source, 'failure');
      log.error({ source, err: error }, `the last good ${source} stays in force: ${messageOf(error)}`);
    },
  });
  const policies: { value: Policy; close?: () => void } =
    options.config === undefined
      ? { value: readPolicy(undefined) }
      : livePolicy(options.config, told('configuration'));
  // a profile that does not exist is told at the start, not by refusing every pod
  if (options.profile !== undefined) policies.value.join(options.profile);

  const certificateTold = told('certificate');
  const certificate = await options.certificate({
    onReload: (pair) => {
      app.server.setSecureContext(secureOptions(pair));
      metrics.certificateExpires(pair.notAfter);
      certificateTold.onReload();
    },
    onError: certificateTold.onError,
  });
  metrics.certificateExpires(certificate.current.notAfter);
  // last, as it may ask a cluster from here on: what fails before it leaves nothing running
  const namespaces =
    options.namespaces?.({ registry: metrics.registry, log }) ??
    openNamespaces(options, told('cluster-state'));

  let draining = false;
  const app = buildApp({
    certificate: certificate.current,
    context: () => ({
      policy: policies.value,
      namespaces: namespaces.value,
      ownNamespace: options.ownNamespace,
    }),
    metrics,
    log,
  });
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close');
  });
  const ops = buildOps({ metrics, unready: () => (draining ? 'shutting down' : namespaces.unready?.()) });

  const close = async (): Promise<void> => {
    for (const source of [policies, certificate]) source.close?.();
    await Promise.all([app.close(), ops.close()]);
    // calls under way may still have asked it
    await namespaces.close?.();
  };
  try {
    const opsPort = await listen(ops, options.host, options.opsPort, '--ops-port');
    const port = await listen(app, options.host, options.port, '--port');
    log.info({ port, opsPort, profiles: [...policies.value.profiles.keys()] }, 'serving admission reviews');
    return {
      port,
      opsPort,
      certificate,
      drain: async () => {
        draining = true;
        log.info({ delay: options.drainDelay }, 'draining');
        const cut = setTimeout(() => app.server.closeAllConnections(), options.drainTimeout);
        await sleep(options.drainDelay);
        await close();
        clearTimeout(cut);
        log.info('drained');
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
