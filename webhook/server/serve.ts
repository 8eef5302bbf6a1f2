import fastify, { LogController } from 'fastify';
import type { CertificateEvents, CertificateSource } from '../../certs/files.ts';
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
import { refuseHttp } from './http-errors.ts';
import { listen } from './listen.ts';
import { nodeAnswer } from './node-answer.ts';
import { type OpsOptions, openOps } from './ops.ts';

export interface ServeOptions extends DepsOptions, DrainOptions, OpsOptions {
  /** Provides the serving certificate. Until there is one, `/readyz` says why. */
  certificate: (events: CertificateEvents, deps: Deps) => Promise<CertificateSource>;
  /** The HTTPS port for admission requests. */
  port: number;
  /** Configuration file, reloaded when it changes; by default, the built-in configuration. */
  config?: string | undefined;
  /** Image to inject if the configuration names none; by default, the image of this release. */
  image?: string | undefined;
  /** The namespace in which cni-gate runs. Its pods are exempt. */
  ownNamespace?: string | undefined;
  /** Watches a cluster. If set, `clusterState` and `profile` are ignored. */
  cluster?: ((policy: () => Policy, deps: Deps) => ClusterView) | undefined;
  /** File with Kubernetes objects, used instead of a cluster, and reloaded when it changes. */
  clusterState?: string | undefined;
  /** Profile of every namespace, instead of the one in its label. */
  profile?: string | undefined;
}

export interface RunningServer {
  port: number;
  opsPort: number;
  certificate: CertificateSource;
  /** Becomes unready, answers the requests in progress, closes both ports, and stops everything. */
  drain(): Promise<void>;
}

/** Starts the server. @throws CniGateError if a file or port cannot be used; the signal's reason if it is aborted */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const deps = serverDeps(options);
  const app = createApp(deps);
  try {
    // Each part adds an `onClose` hook that ends what the part started. Fastify runs these hooks in reverse order,
    // after the port has closed and the last request is answered.
    drainOnClose(app, options, deps);
    let view: ClusterView | undefined;
    const policy = openPolicy(app, options, deps, () => view?.policyChanged());
    const opsPort = await openOps(app, options, deps, (node, profile) =>
      nodeAnswer(node, profile, view, policy(), Date.now()),
    );
    const certificate = await secure(app, options, deps);
    // last, because the view sends requests to the API server, which are useless if another part cannot start
    view = openView(app, options, deps, policy);
    addWebhooks(app, { policy, view, ownNamespace: options.ownNamespace }, deps);
    const port = await listen(app, options.host, options.port);
    deps.metrics.measureEventLoop();
    deps.log.info({ port, opsPort, profiles: [...policy().profiles.keys()] }, 'serving admission reviews');
    return { port, opsPort, certificate, drain: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function createApp({ log }: ServerDeps): App {
  return fastify({
    https: {
      // until the handshake begins, only the first bytes of a connection are read; TLS then has its own buffers
      highWaterMark: 1,
      headersTimeout: serverLimits.headersTimeout,
      connectionsCheckingInterval: serverLimits.timeoutCheck,
      // By default, Node itself answers requests without a Host header, and does not limit how many are pipelined.
      requireHostHeader: false,
    },
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    keepAliveTimeout: serverLimits.keepAliveTimeout,
    // closes connections without traffic, such as one whose client does not read its answer
    connectionTimeout: serverLimits.keepAliveTimeout,
    requestTimeout: serverLimits.requestTimeout,
    // 0, because by default a start or drain of more than ten seconds would end the process
    pluginTimeout: 0,
    clientErrorHandler: refuseHttp,
    // requests on open connections are answered even while the server closes
    return503OnClosing: false,
  });
}

/**
 * Reads the configuration, and reloads it when its file changes. Call the returned function for each request.
 * @throws CniGateError if the file cannot be used, or has no profile named `profile`
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

/**
 * Sets up TLS for the HTTPS port. Replaces the serving certificate when it is renewed.
 * @throws CniGateError if a file cannot be used; the signal's reason if the process has to stop first
 */
async function secure(
  app: App,
  { certificate: provide }: ServeOptions,
  deps: ServerDeps,
): Promise<CertificateSource> {
  let source: CertificateSource | undefined;
  const renew = (): void => {
    if (!source) return;
    const { certificate: cert, key, notAfter } = source.current;
    // this call replaces all options, so the minimum TLS version is repeated
    app.server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    deps.metrics.certificateExpires(notAfter);
  };
  const events = {
    ...deps.reload('certificate', renew),
    addReadyCheck: (check: ServerDeps['ready'][number]) => void deps.ready.push(check),
  };
  const certificate = await provide(events, deps);
  source = certificate;
  app.addHook('onClose', async () => certificate.close());
  renew();
  return certificate;
}

/** Opens the view of a cluster. @throws CniGateError CNI_GATE_STATE_INVALID if the file cannot be used */
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
  measureCluster(deps.registry, policy, view);
  return view;
}
