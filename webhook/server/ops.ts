import fastify, { type FastifyInstance } from 'fastify';
import type { ErrorCode } from '../errors.ts';
import type { Metrics } from './metrics.ts';

/** What the kubelet and Prometheus ask, on a plain port of its own. */
export interface OpsOptions {
  metrics: Metrics;
  /** Why no calls should come here now, or undefined when they may. */
  unready: () => string | undefined;
}

/** `/livez`, `/readyz` and `/metrics`. */
export function buildOps(options: OpsOptions): FastifyInstance {
  const app = fastify({ logger: false });
  app.get('/livez', async () => 'ok\n');
  app.get('/readyz', async (_request, reply) => {
    const reason = options.unready();
    return reason === undefined ? 'ok\n' : reply.code(503).send(`${reason}\n`);
  });
  app.get('/metrics', async (_request, reply) => {
    const { registry } = options.metrics;
    return reply.type(registry.contentType).send(await registry.metrics());
  });
  app.setNotFoundHandler((request, reply) => {
    const message = `no ${request.method} ${request.url} here; there are GET /livez, /readyz and /metrics`;
    return reply.code(404).send({ code: 'CNI_GATE_NOT_FOUND' satisfies ErrorCode, message });
  });
  return app;
}
