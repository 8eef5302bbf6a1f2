import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteGenericInterface,
} from 'fastify';
import { quoted } from '../lib/clean.ts';
import { CniGateError, type ErrorCode, messageOf } from '../lib/errors.ts';
import type { Metrics } from './metrics.ts';

const statusOf: Partial<Record<ErrorCode, number>> = {
  CNI_GATE_REVIEW_SYNTAX: 400,
  CNI_GATE_REVIEW_INVALID: 400,
  CNI_GATE_REVIEW_NAME: 400,
  CNI_GATE_REVIEW_KIND: 400,
  CNI_GATE_REVIEW_TOO_LARGE: 413,
  CNI_GATE_REVIEW_MEDIA: 415,
  CNI_GATE_NOT_FOUND: 404,
  CNI_GATE_BUSY: 429,
};

type Request = FastifyRequest<RouteGenericInterface, Server>;
type Reply = FastifyReply<RouteGenericInterface, Server>;

/** Converts Fastify's own errors (https://fastify.dev/docs/latest/Reference/Errors/) to errors with our codes. */
function translate(error: FastifyError, request: Request): CniGateError {
  if (error instanceof CniGateError) return error;
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new CniGateError(
      'CNI_GATE_REVIEW_MEDIA',
      `expected Content-Type application/json, got ${quoted(request.headers['content-type'] ?? 'none')}`,
    );
  const [firstLine = ''] = messageOf(error).split('\n');
  return new CniGateError('CNI_GATE_INTERNAL', `a defect in cni-gate: ${firstLine.slice(0, 200)}`, {
    cause: error,
  });
}

/** Answers with an error, and counts and logs it. Node discards the rest of the request's body. */
function answer(error: CniGateError, request: Request, reply: Reply, metrics: Metrics): Reply {
  const status = statusOf[error.code] ?? 500;
  metrics.badRequests.inc({ code: error.code });
  const { ip: remote, method, url } = request;
  const facts = { code: error.code, status, remote, method, path: quoted(url) };
  if (status >= 500) request.log.error({ ...facts, err: error }, error.message);
  else request.log.warn(facts, error.message);
  // client-go retries after this many seconds, within the webhook's timeoutSeconds (`checkWait` in `rest`)
  if (status === 429) reply.header('retry-after', '1');
  return reply.code(status).send({ code: error.code, message: error.message });
}

/** Answers every request that is not an admission call with a clear 4xx, which the API server shows to the user. */
export function answerErrors(app: FastifyInstance<Server>, metrics: Metrics): void {
  app.setErrorHandler((error: FastifyError, request, reply) =>
    answer(translate(error, request), request, reply, metrics),
  );
  app.setNotFoundHandler((request, reply) => {
    const message = `no ${request.method} ${quoted(request.url.split('?')[0] ?? '')} here; admission calls go to POST /mutate for pods, /gate for bindings and /namespaces for namespaces`;
    return answer(new CniGateError('CNI_GATE_NOT_FOUND', message), request, reply, metrics);
  });
}

/**
 * Closes a connection whose bytes are neither HTTP nor TLS, or arrive late. A connection without a byte stays open,
 * because Go opens some connections that it does not need (`queueForDial` in `net/http`).
 */
export function refuseHttp(_error: Error, socket: Socket): void {
  if (socket.bytesRead > 0) socket.destroy();
}
