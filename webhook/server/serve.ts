import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { livePolicy, readPolicy } from '../config/file.ts';
import type { Policy } from '../config/policy.ts';
import { opsLimits } from '../lib/limits.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { viewOfFile, viewOfFlag } from '../view/from-file.ts';
import { buildApp } from './app.ts';
import { ClientCertificates } from './client-certificates.ts';
import { listen } from './listen.ts';
import { Metrics } from './metrics.ts';
import { buildOps } from './ops.ts';
import { measureReadiness } from './readiness-metrics.ts';
import { reloadListeners } from './reloads.ts';
import { tellReadiness } from './tell-readiness.ts';
import {
  type CertificateEvents,
  type CertificateInside,
  type CertificateSource,
  secureOptions,
} from './tls.ts';

export interface ServeOptions {
  log: FastifyBaseLogger;
  /** Configuration file; the built-in defaults where there is none. */
  config?: string | undefined;
  /** What is injected where the configuration names no image; this release's where it is not given either. */
  image?: string | undefined;
  /** File of Kubernetes objects whose Namespaces give the labels. */
  clusterState?: string | undefined;
  /** What is known of a cluster, in place of the file and the flag; it gets the server's metrics and log. */
  cluster?: ((inside: ClusterInside) => ClusterView) | undefined;
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
  /** The server's certificate; it may be waited for, while the other port tells why. */
  certificate: (events: CertificateEvents, inside: CertificateInside) => Promise<CertificateSource>;
  /** PEM file of the authorities that sign the certificates of callers; every caller may call without one. */
  clientCa?: string | undefined;
  /** Names of which a caller's certificate must have one. */
  clientName?: string[] | undefined;
  /** Ends the start, where it still waits for something. */
  signal?: AbortSignal;
  /** Milliseconds between two looks at files. */
  interval?: number;
  /** Milliseconds for which scrapes of the metrics share one text. */
  metricsAge?: number;
}

/** What a view of a cluster gets from the server. */
export interface ClusterInside {
  registry: Registry;
  log: FastifyBaseLogger;
  /** The policy in force. */
  policy: () => Policy;
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
 * @throws CniGateError where the configuration, the certificate or a port cannot be used; the signal's reason
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { log } = options;
  const metrics = new Metrics();
  const reload = reloadListeners(metrics, log, options.interval);
  const policies: { value: Policy; close?: () => void } =
    options.config === undefined
      ? { value: readPolicy(undefined, options.image) }
      : livePolicy(
          options.config,
          options.image,
          reload('configuration', () => cluster?.policyChanged?.()),
        );
  // a profile that does not exist is told at the start, not by refusing every pod
  if (options.profile !== undefined) policies.value.join(options.profile);

  const clients =
    options.clientCa === undefined
      ? undefined
      : new ClientCertificates(
          options.clientCa,
          options.clientName,
          reload('client-ca', () => swap()),
        );
  let [certificate, app]: [CertificateSource?, ReturnType<typeof buildApp>?] = [];
  let cluster: ClusterView | undefined;
  const swap = (): void => {
    if (certificate) app?.server.setSecureContext(secureOptions(certificate.current, clients?.authorities));
  };
  let draining = false;
  let waiting: () => string | undefined = () => undefined;
  const unready = (): string | undefined => {
    if (draining) return 'shutting down';
    if (!app) return waiting() ?? 'starting';
    return certificate?.unready?.() ?? cluster?.unready?.();
  };
  const ops = buildOps({ metrics, unready, metricsAge: options.metricsAge ?? opsLimits.metricsAge });
  const close = async (): Promise<void> => {
    for (const source of [policies, clients]) source?.close?.();
    await Promise.all([app?.close(), ops.close(), certificate?.close()]);
    // calls under way may still have asked it
    await cluster?.close?.();
  };
  try {
    const opsPort = await listen(ops, options.host, options.opsPort, '--ops-port');
    const certificateReload = reload('certificate');
    const { registry } = metrics;
    const { signal = new AbortController().signal } = options;
    certificate = await options.certificate(
      {
        onReload: (pair) => {
          swap();
          metrics.certificateExpires(pair.notAfter);
          certificateReload.onReload();
        },
        onError: certificateReload.onError,
      },
      {
        registry,
        log,
        signal,
        waitingFor: (why) => {
          waiting = why;
        },
      },
    );
    metrics.certificateExpires(certificate.current.notAfter);
    // last, as it may ask a cluster from here on: what fails before it leaves nothing running
    const view =
      options.cluster?.({ registry, log, policy: () => policies.value }) ??
      (options.clusterState === undefined
        ? viewOfFlag(options.profile)
        : viewOfFile(options.clusterState, options.profile, reload('cluster-state')));
    cluster = view;
    measureReadiness(registry, () => policies.value, view);
    void tellReadiness(log, () => policies.value, view);
    app = buildApp({
      certificate: certificate.current,
      context: () => ({
        policy: policies.value,
        namespaces: view.namespaces,
        ownNamespace: options.ownNamespace,
      }),
      gate: () => ({ policy: policies.value, ...view }),
      clients,
      metrics,
      log,
    });
    app.addHook('onSend', async (_request, reply) => {
      if (draining) reply.header('connection', 'close');
    });
    const { server } = app;
    const port = await listen(app, options.host, options.port, '--port');
    metrics.measureEventLoop();
    log.info({ port, opsPort, profiles: [...policies.value.profiles.keys()] }, 'serving admission reviews');
    return {
      port,
      opsPort,
      certificate,
      drain: async () => {
        draining = true;
        log.info({ delay: options.drainDelay }, 'draining');
        const cut = setTimeout(() => server.closeAllConnections(), options.drainTimeout);
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
