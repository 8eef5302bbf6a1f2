import type { Server } from 'node:https';
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteGenericInterface,
} from 'fastify';
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
  CNI_GATE_CLIENT_CERTIFICATE: 401,
  CNI_GATE_CLIENT_NAME: 403,
  CNI_GATE_BUSY: 429,
};

type Request = FastifyRequest<RouteGenericInterface, Server>;
type Reply = FastifyReply<RouteGenericInterface, Server>;

/** Fastify's own errors before a handler runs, in our words. Its list: https://fastify.dev/docs/latest/Reference/Errors/ */
function translate(error: FastifyError, request: Request): CniGateError {
  if (error instanceof CniGateError) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new CniGateError(
        'CNI_GATE_REVIEW_MEDIA',
        `expected Content-Type application/json, got ${request.headers['content-type'] ?? 'none'}`,
      );
  }
  if (error.statusCode === 400) {
    return new CniGateError('CNI_GATE_REVIEW_SYNTAX', `the body is not JSON: ${firstLine(error)}`);
  }
  return new CniGateError('CNI_GATE_INTERNAL', `a defect in cni-gate: ${firstLine(error)}`, { cause: error });
}

const firstLine = (error: unknown): string => (messageOf(error).split('\n')[0] ?? '').slice(0, 200);

/**
 * Answers whatever is no admission call with a clear 4xx, counted and logged. The API server shows the text to
 * the user behind "failed calling webhook", and applies the failurePolicy.
 */
export function answerErrors(app: FastifyInstance<Server>, metrics: Metrics): void {
  const answer = (error: CniGateError, request: Request, reply: Reply): Reply => {
    const status = statusOf[error.code] ?? 500;
    metrics.badRequest(error.code);
    const facts = { code: error.code, status, remote: request.ip, method: request.method, path: request.url };
    if (status >= 500) request.log.error({ ...facts, err: error }, error.message);
    else request.log.warn(facts, error.message);
    // client-go waits for so many seconds and asks again, within the webhook's timeoutSeconds: `checkWait` of rest
    if (status === 429) reply.header('retry-after', '1');
    return reply.code(status).send({ code: error.code, message: error.message });
  };
  app.setErrorHandler((error: FastifyError, request, reply) =>
    answer(translate(error, request), request, reply),
  );
  app.setNotFoundHandler((request, reply) => {
    const message = `no ${request.method} ${request.url.split('?')[0]} here; admission calls go to POST /mutate for pods, /gate for bindings and /namespaces for namespaces`;
    return answer(new CniGateError('CNI_GATE_NOT_FOUND', message), request, reply);
  });
}
