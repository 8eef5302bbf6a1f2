import fastify from 'fastify';
import { opsLimits } from '../lib/limits.ts';
import { Connections } from './connections.ts';
import type { App, ServerDeps } from './deps.ts';
import { listen } from './listen.ts';
import type { NodeAnswer } from './node-answer.ts';

export interface OpsOptions {
  /** The address on which the admission port and this port listen; by default, all addresses of the machine. */
  host?: string | undefined;
  /** Port for probes and metrics, plain HTTP. */
  opsPort: number;
  /** For how long, in milliseconds, the text of the metrics is reused for later scrapes. */
  metricsAge?: number;
}

/**
 * Opens the port for the kubelet and Prometheus. It opens before any part of the server that may have to wait, so that
 * `/readyz` says what the server waits for. It closes last.
 * @param nodes returns the answer about a node for a profile label
 * @throws CniGateError CNI_GATE_LISTEN
 */
export async function openOps(
  app: App,
  { host, opsPort, metricsAge = opsLimits.metricsAge }: OpsOptions,
  { metrics, ready }: ServerDeps,
  nodes: (node: string, profile: string) => NodeAnswer,
): Promise<number> {
  // a buffer can be shared, but each connection would keep its own copy of a string until its client has read it
  let text: Promise<Buffer> | undefined;
  let madeAt = Number.NEGATIVE_INFINITY;
  const scrape = (): Promise<Buffer> => {
    if (text !== undefined && performance.now() - madeAt < metricsAge) return text;
    madeAt = performance.now();
    text = metrics.registry.metrics().then((made) => Buffer.from(made));
    return text;
  };
  const server = fastify({
    bodyLimit: opsLimits.body,
    keepAliveTimeout: opsLimits.keepAliveTimeout,
    connectionTimeout: opsLimits.keepAliveTimeout,
    requestTimeout: opsLimits.requestTimeout,
    // the maximum length of a node's name
    routerOptions: { maxParamLength: 253 },
    http: {
      connectionsCheckingInterval: opsLimits.requestTimeout,
      // By default, Node itself answers requests without a Host header, and does not limit how many are pipelined.
      requireHostHeader: false,
    },
  });
  const connections = new Connections(opsLimits.connections, (limit) =>
    metrics.overload(limit === 'connections' ? 'ops-connections' : limit),
  );
  connections.bound(server.server);
  server.get('/livez', async () => 'ok\n');
  server.get('/readyz', async (_request, reply) => {
    const starting = app.server.listening ? undefined : 'starting';
    const reason = ready.map((check) => check()).find((why) => why !== undefined) ?? starting;
    return reason === undefined ? 'ok\n' : reply.code(503).send(`${reason}\n`);
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await scrape()),
  );
  server.get<{ Params: { node: string }; Querystring: { profile?: unknown } }>(
    '/nodes/:node',
    async ({ params, query }, reply) => {
      const { code, text } = nodes(params.node, String(query.profile ?? ''));
      // there may be a client for each node, and their idle connections would displace all others
      return reply.code(code).header('connection', 'close').send(`${text}\n`);
    },
  );
  app.addHook('onClose', () => server.close());
  return listen(server, host, opsPort);
}
