import fastify, { type FastifyInstance } from 'fastify';
import type { ErrorCode } from '../lib/errors.ts';
import { opsLimits } from '../lib/limits.ts';
import { Connections } from './connections.ts';
import type { Metrics } from './metrics.ts';

/** What the kubelet and Prometheus ask, on a plain port of its own. */
export interface OpsOptions {
  metrics: Metrics;
  /** Why no calls should come here now, or undefined when they may. */
  unready: () => string | undefined;
  /** Milliseconds for which scrapes share one text. */
  metricsAge: number;
}

/** `/livez`, `/readyz` and `/metrics`. */
export function buildOps(options: OpsOptions): FastifyInstance {
  const { registry } = options.metrics;
  const app = fastify({
    logger: false,
    bodyLimit: opsLimits.body,
    keepAliveTimeout: opsLimits.keepAliveTimeout,
    requestTimeout: opsLimits.requestTimeout,
    http: {
      headersTimeout: opsLimits.headersTimeout,
      requestTimeout: opsLimits.requestTimeout,
      connectionsCheckingInterval: opsLimits.requestTimeout,
    },
  });
  const connections = new Connections(opsLimits.connections, opsLimits.answerTimeout, (limit) =>
    options.metrics.overload(limit === 'connections' ? 'ops-connections' : limit),
  );
  connections.bound(app.server);
  app.addHook('onResponse', (request, _reply, done) => {
    connections.answered(request.raw);
    done();
  });
  const scrape = sharedFor(options.metricsAge, async () => Buffer.from(await registry.metrics()));
  app.get('/livez', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const reason = options.unready();
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

/**
 * Makes a value for all who ask at about the same time: who asks while it is made gets the same, and so does who asks
 * before it is too old.
 *
 * @param age milliseconds from the end of the making
 * @param make not called again before it has ended
 */
export function sharedFor<T>(age: number, make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  let until = Number.POSITIVE_INFINITY;
  return () => {
    if (made && performance.now() < until) return made;
    until = Number.POSITIVE_INFINITY;
    const begun = make();
    made = begun;
    begun.then(
      () => {
        until = performance.now() + age;
      },
      () => {
        // the next who asks tries again
        until = 0;
      },
    );
    return begun;
  };
}
