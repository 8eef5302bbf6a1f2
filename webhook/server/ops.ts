import fastify, { type FastifyInstance } from 'fastify';
import type { ErrorCode } from '../lib/errors.ts';
import { opsLimits } from '../lib/limits.ts';
import { Connections } from './connections.ts';
import type { App, ReadyCheck, ServerDeps } from './deps.ts';
import { listen } from './listen.ts';
import type { Metrics } from './metrics.ts';

/** Options of {@link openOps}. */
export interface OpsOptions {
  /** Address of both ports; every address of the machine where nothing is given. */
  host?: string | undefined;
  /** Port for probes and metrics, plain HTTP. */
  opsPort: number;
  /** Milliseconds for which scrapes of the metrics share one text. */
  metricsAge?: number;
}

/**
 * Opens the second port, for the kubelet and Prometheus: `/livez`, `/readyz` and `/metrics`. It opens before everything
 * that can wait, so that `/readyz` says what the server waits for, and it closes after everything else.
 *
 * @returns the port
 * @throws CniGateError CNI_GATE_LISTEN
 */
export async function openOps(
  app: App,
  { host, opsPort, metricsAge }: OpsOptions,
  { metrics, ready }: ServerDeps,
): Promise<number> {
  const isReady = (): string | undefined => {
    for (const check of ready) {
      const reason = check();
      if (reason !== undefined) return reason;
    }
    return app.server.listening ? undefined : 'starting';
  };
  const server = createOps(metrics, isReady, metricsAge ?? opsLimits.metricsAge);
  app.addHook('onClose', () => server.close());
  return listen(server, host, opsPort, '--ops-port');
}

/**
 * The instance of the second port.
 *
 * @param isReady what `/readyz` answers by
 * @param metricsAge milliseconds for which scrapes share one text
 */
function createOps(metrics: Metrics, isReady: ReadyCheck, metricsAge: number): FastifyInstance {
  const { registry } = metrics;
  const app = fastify({
    logger: false,
    bodyLimit: opsLimits.body,
    keepAliveTimeout: opsLimits.keepAliveTimeout,
    connectionTimeout: opsLimits.keepAliveTimeout,
    requestTimeout: opsLimits.requestTimeout,
    http: {
      connectionsCheckingInterval: opsLimits.requestTimeout,
      // Node would answer by itself, with no bound on how many stand one behind the other
      requireHostHeader: false,
    },
  });
  const connections = new Connections(opsLimits.connections, (limit) =>
    metrics.overload(limit === 'connections' ? 'ops-connections' : limit),
  );
  connections.bound(app.server);
  // a buffer: of a string, each connection would keep a copy until its client reads
  let text: Promise<Buffer> | undefined;
  let madeAt = Number.NEGATIVE_INFINITY;
  const scrape = (): Promise<Buffer> => {
    if (text !== undefined && performance.now() - madeAt < metricsAge) return text;
    madeAt = performance.now();
    text = registry.metrics().then((made) => Buffer.from(made));
    return text;
  };
  app.get('/livez', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const reason = isReady();
    return reason === undefined ? 'ok\n' : reply.code(503).send(`${reason}\n`);
  });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await scrape());
  });
  app.setNotFoundHandler((request, reply) => {
    const message = `no ${request.method} ${request.url} here; there are GET /livez, /readyz and /metrics`;
    return reply.code(404).send({ code: 'CNI_GATE_NOT_FOUND' satisfies ErrorCode, message });
  });
  return app;
}
