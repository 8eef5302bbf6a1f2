import fastify, { LogController } from 'fastify';
import type { CertificateSource } from '../../certs/files.ts';
import { viewOfFile, viewOfFlag } from '../cluster/view/from-file.ts';
import { livePolicy } from '../config/load.ts';
import type { ClusterView } from '../core/cluster-view.ts';
import type { Policy } from '../core/profiles/policy.ts';
import type { Deps } from '../lib/deps.ts';
import { serverLimits } from '../lib/limits.ts';
import { addWebhooks } from './admission.ts';
import { measureCluster } from './cluster-metrics.ts';
import { type App, type DepsOptions, type ServerDeps, serverDeps } from './deps.ts';
import { type DrainOptions, drainOnClose } from './drain.ts';
import { errorOptions } from './http-errors.ts';
import { listen } from './listen.ts';
import { type OpsOptions, openOps } from './ops.ts';
import { type SecureContextOptions, secure } from './secure-context.ts';

export interface ServeOptions extends DepsOptions, DrainOptions, OpsOptions, SecureContextOptions {
  /** Port for admission requests, HTTPS. */
  port: number;
  /** Configuration file, reloaded when it changes; the built-in defaults where there is none. */
  config?: string | undefined;
  /** Image to inject if the configuration names none; the image of this release where it is not given either. */
  image?: string | undefined;
  /** The namespace that cni-gate runs in: its pods are exempt. */
  ownNamespace?: string | undefined;
  /** Watches a cluster. It wins over the file and the flag. */
  cluster?: ((policy: () => Policy, deps: Deps) => ClusterView) | undefined;
  /** File of Kubernetes objects that stand for a cluster, reloaded when it changes. */
  clusterState?: string | undefined;
  /** Profile of every namespace, instead of its label. */
  profile?: string | undefined;
}

export interface RunningServer {
  port: number;
  opsPort: number;
  certificate: CertificateSource;
  /** Becomes unready, answers the requests that still run, closes both ports, and stops everything. */
  drain(): Promise<void>;
}

/** Starts the server. @throws CniGateError where a file or port cannot be used, or the reason of the signal */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const deps = serverDeps(options);
  const app = createApp(deps, options.clientCa !== undefined);
  try {
    // Each part adds an `onClose` hook for what it has to end. Fastify runs these hooks in the reverse order, after the
    // port is closed and the last request is answered.
    drainOnClose(app, options, deps);
    let view: ClusterView | undefined;
    const policy = openPolicy(app, options, deps, () => view?.policyChanged());
    const opsPort = await openOps(app, options, deps);
    const certificate = await secure(app, options, deps);
    // after all that can fail for other reasons: it sends requests to the API server
    view = openView(app, options, deps, policy);
    addWebhooks(app, { policy, view, ownNamespace: options.ownNamespace }, deps);
    const port = await listen(app, options.host, options.port, '--port');
    deps.metrics.measureEventLoop();
    deps.log.info({ port, opsPort, profiles: [...policy().profiles.keys()] }, 'serving admission reviews');
    return { port, opsPort, certificate, drain: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** The HTTPS port without routes and certificate. A caller without one gets an answer, not a failed handshake. */
function createApp({ log, metrics }: ServerDeps, requestCert: boolean): App {
  return fastify({
    https: {
      // of a connection that waits for its handshake, only the first bytes are read: TLS has its own buffers
      highWaterMark: 1,
      headersTimeout: serverLimits.headersTimeout,
      connectionsCheckingInterval: serverLimits.timeoutCheck,
      // By default Node answers these itself and lets pipelined requests queue without limit.
      requireHostHeader: false,
      ...(requestCert && { requestCert: true, rejectUnauthorized: false }),
    },
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    keepAliveTimeout: serverLimits.keepAliveTimeout,
    // without any bytes, such as one that reads no answer
    connectionTimeout: serverLimits.keepAliveTimeout,
    requestTimeout: serverLimits.requestTimeout,
    // by default a start or a drain of more than ten seconds ends the process
    pluginTimeout: 0,
    ...errorOptions(metrics),
    // while the server closes, a request on an open connection is still answered
    return503OnClosing: false,
  });
}

/**
 * Reads the configuration, and reloads it when its file changes. Read the result for each request.
 * @throws CniGateError where the file cannot be used, or has no profile of the name `profile`
 */
function openPolicy(
  app: App,
  { config, image, profile }: ServeOptions,
  deps: ServerDeps,
  changed: () => void,
): () => Policy {
  const file = livePolicy(config, image, deps.reload('configuration', changed));
  app.addHook('onClose', async () => file.close());
  if (profile !== undefined) file.value.combineProfiles(profile);
  return () => file.value;
}

/** What the server knows of a cluster. @throws CniGateError CNI_GATE_STATE_INVALID where the file cannot be used */
function openView(
  app: App,
  { cluster, clusterState, profile }: ServeOptions,
  deps: ServerDeps,
  policy: () => Policy,
): ClusterView {
  const view =
    cluster?.(policy, deps) ??
    (clusterState === undefined
      ? viewOfFlag(profile)
      : viewOfFile(clusterState, profile, deps.reload('cluster-state')));
  app.addHook('onClose', () => view.close());
  deps.ready.push(() => view.unready());
  measureCluster(deps, policy, view);
  return view;
}
