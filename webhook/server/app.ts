import type { Server } from 'node:https';
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { type MutateContext, mutate } from '../admission/mutate.ts';
import { reviewNamespace } from '../admission/namespace-label.ts';
import { respond } from '../admission/respond.ts';
import { CniGateError } from '../errors.ts';
import { type GateSources, gate } from '../gate/gate.ts';
import type { ClientCertificates } from './client-certificates.ts';
import { timeToAnswer } from './deadline.ts';
import { logDecision } from './decision-log.ts';
import { answerErrors } from './http-errors.ts';
import type { Metrics } from './metrics.ts';
import { type CertificatePair, secureOptions } from './tls.ts';

/** Object and old object of at most 3 MiB each (etcd's limit as the API server sets it), and the envelope. */
const bodyLimit = 7 * 1024 * 1024;

/** Go's HTTP client keeps idle connections for 90 s: the server must not close them first. */
const keepAliveTimeout = 95_000;

/** A body that takes longer than the longest admission time-out is of no use to anybody. */
const requestTimeout = 30_000;

export interface AppOptions {
  certificate: CertificatePair;
  /** Read for each request: a reload replaces the policy. */
  context: () => MutateContext;
  /** Read for each request about a placement. */
  gate: () => GateSources;
  /** Asked of every caller, where there is one. */
  clients?: ClientCertificates | undefined;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

/** The admission server: HTTPS, HTTP/1.1, `POST /mutate`, `/gate` and `/namespaces`. Nothing else is answered here. */
export function buildApp(options: AppOptions): FastifyInstance<Server> {
  const { context, metrics, clients } = options;
  const app = fastify({
    https: {
      ...secureOptions(options.certificate, clients?.authorities),
      // who shows none gets an answer that says so, and not a broken handshake
      ...(clients && { requestCert: true, rejectUnauthorized: false }),
    },
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit,
    keepAliveTimeout,
    requestTimeout,
    // A pod may hold any key; nothing here copies keys by assignment, and the API server judges the names.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    // While it closes, a call on an open connection is still answered.
    return503OnClosing: false,
  });
  app.removeContentTypeParser('text/plain');
  answerErrors(app, metrics);
  if (clients) {
    app.server.on('secureConnection', (socket) => clients.connected(socket));
    app.addHook('onRequest', async ({ raw }, reply) => {
      if (clients.isStale(raw)) reply.header('connection', 'close');
      clients.check(raw);
    });
  }
  app.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      throw new CniGateError(
        'CNI_GATE_REVIEW_MEDIA',
        `expected a body as it is, got Content-Encoding ${encoding}`,
      );
    }
  });
  app.post<{ Querystring: { timeout?: string } }>('/mutate', async (request) => {
    const start = process.hrtime.bigint();
    const mutation = await mutate(
      request.body,
      context(),
      AbortSignal.timeout(timeToAnswer(request.query.timeout)),
    );
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    metrics.answered('mutate', mutation.decision, seconds);
    logDecision(request.log, 'mutate', mutation, seconds);
    return mutation.review;
  });
  app.post<{ Querystring: { timeout?: string } }>('/gate', async (request) => {
    const start = process.hrtime.bigint();
    const signal = AbortSignal.timeout(timeToAnswer(request.query.timeout));
    const gated = await gate(request.body, options.gate(), Date.now(), signal);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    metrics.answered('gate', gated.decision, seconds);
    logDecision(request.log, 'gate', gated, seconds);
    return respond(gated.request.uid, gated.decision);
  });
  app.post('/namespaces', async (request) => {
    const start = process.hrtime.bigint();
    const reviewed = reviewNamespace(request.body, context().policy);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    metrics.answered('namespaces', reviewed.decision, seconds);
    logDecision(request.log, 'namespaces', reviewed, seconds);
    return respond(reviewed.request.uid, reviewed.decision);
  });
  return app;
}
