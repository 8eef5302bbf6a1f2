import type { Server } from 'node:https';
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { respond } from '../admission/respond.ts';
import { type GateSources, gate } from '../gate/gate.ts';
import { type MutateContext, mutate } from '../inject/mutate.ts';
import { reviewNamespace } from '../inject/namespace-label.ts';
import { CniGateError } from '../lib/errors.ts';
import { type MemoryLimits, memoryLimits, serverLimits } from '../lib/limits.ts';
import { Bodies } from './bodies.ts';
import type { ClientCertificates } from './client-certificates.ts';
import { Connections } from './connections.ts';
import { timeToAnswer } from './deadline.ts';
import { logDecision } from './decision-log.ts';
import { answerErrors, errorOptions } from './http-errors.ts';
import type { Metrics } from './metrics.ts';
import { type CertificatePair, secureOptions } from './tls.ts';

export interface AppOptions {
  certificate: CertificatePair;
  /** Read for each request: a reload replaces the policy. */
  context: () => MutateContext;
  /** Read for each request about a placement. */
  gate: () => GateSources;
  /** Asked of every caller, where there is one. */
  clients?: ClientCertificates | undefined;
  metrics: Metrics;
  /** Those of this process where nothing is given. */
  limits?: MemoryLimits;
  log: FastifyBaseLogger;
}

/** What the API server adds to the URL. */
interface Timed {
  Querystring: { timeout?: string };
}

/** The admission server: HTTPS, HTTP/1.1, `POST /mutate`, `/gate` and `/namespaces`. Nothing else is answered here. */
export function buildApp(options: AppOptions): FastifyInstance<Server> {
  const { context, metrics, clients, limits = memoryLimits() } = options;
  const bodies = new Bodies(limits, (limit) => metrics.overload(limit));
  metrics.measureBodies(() => bodies.inFlight);
  const connections = new Connections(
    limits.connections,
    serverLimits.answerTimeout,
    (limit) => metrics.overload(limit),
    serverLimits.handshakeTimeout,
  );
  const app = fastify({
    https: {
      ...secureOptions(options.certificate, clients?.authorities),
      handshakeTimeout: serverLimits.handshakeTimeout,
      // of a connection that waits for its handshake, only the first bytes are read: TLS has its own buffers
      highWaterMark: 1,
      headersTimeout: serverLimits.headersTimeout,
      requestTimeout: serverLimits.requestTimeout,
      connectionsCheckingInterval: serverLimits.timeoutCheck,
      // who shows none gets an answer that says so, and not a broken handshake
      ...(clients && { requestCert: true, rejectUnauthorized: false }),
    },
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    keepAliveTimeout: serverLimits.keepAliveTimeout,
    requestTimeout: serverLimits.requestTimeout,
    ...errorOptions(metrics),
    // While it closes, a call on an open connection is still answered.
    return503OnClosing: false,
  });
  // A pod may hold any key, `__proto__` as well; nothing here copies keys by assignment.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) =>
    bodies.parse(request, payload, done),
  );
  connections.bound(app.server);
  app.addHook('onResponse', (request, reply, done) => {
    connections.answered(request.raw, reply.statusCode === 200);
    done();
  });
  answerErrors(app, metrics);
  if (clients) {
    app.server.on('secureConnection', (socket) => clients.connected(socket));
    app.addHook('onRequest', async ({ raw }, reply) => {
      if (clients.isStale(raw)) reply.header('connection', 'close');
      clients.check(raw);
    });
  }
  app.addHook('onRequest', (request, _reply, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding === 'identity') done();
    else {
      const message = `expected a body as it is, got Content-Encoding ${encoding}`;
      done(new CniGateError('CNI_GATE_REVIEW_MEDIA', message));
    }
  });
  /** Runs a handler while the connection counts as one that is worked for, and within the room of the body. */
  const answering = <T>(request: FastifyRequest, handler: () => Promise<T>): Promise<T> => {
    connections.working(request.raw);
    return bodies.answering(request, handler);
  };
  const { body: bodyLimit } = serverLimits;
  app.post<Timed>('/mutate', { bodyLimit: bodyLimit.mutate }, (request) =>
    answering(request, async () => {
      const start = process.hrtime.bigint();
      const mutation = await mutate(
        request.body,
        { ...context(), caller: request.ip },
        timeToAnswer(request.query.timeout),
      );
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      metrics.answered('mutate', mutation.decision, seconds);
      logDecision(request.log, 'mutate', mutation, seconds);
      return mutation.review;
    }),
  );
  app.post('/gate', { bodyLimit: bodyLimit.gate }, (request) =>
    answering(request, async () => {
      const start = process.hrtime.bigint();
      const gated = await gate(request.body, { ...options.gate(), caller: request.ip }, Date.now());
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      metrics.answered('gate', gated.decision, seconds);
      logDecision(request.log, 'gate', gated, seconds);
      return respond(gated.request.uid, gated.decision);
    }),
  );
  app.post('/namespaces', { bodyLimit: bodyLimit.namespaces }, (request) =>
    answering(request, async () => {
      const start = process.hrtime.bigint();
      const reviewed = reviewNamespace(request.body, context().policy);
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      metrics.answered('namespaces', reviewed.decision, seconds);
      logDecision(request.log, 'namespaces', reviewed, seconds);
      return respond(reviewed.request.uid, reviewed.decision);
    }),
  );
  return app;
}
