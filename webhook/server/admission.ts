import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { gate } from '../admission/gate.ts';
import { mutate } from '../admission/mutate.ts';
import type { AdmissionDecision } from '../admission/respond.ts';
import { respond } from '../admission/respond.ts';
import type { AdmissionReview } from '../admission/review.ts';
import { reviewNamespace } from '../admission/review-namespace.ts';
import type { ClusterView } from '../core/cluster-view.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { memoryLimits, serverLimits } from '../lib/limits.ts';
import { Bodies } from './bodies.ts';
import { Connections } from './connections.ts';
import type { App, ServerDeps } from './deps.ts';
import { answerErrors } from './http-errors.ts';
import type { OverloadLimit } from './metrics.ts';

/** What the webhooks decide by. */
export interface AdmissionContext {
  /** In force now. */
  policy: () => Policy;
  view: ClusterView;
  /** The namespace that cni-gate runs in: its pods are exempt. */
  ownNamespace: string | undefined;
}

/** Adds the routes `POST /mutate`, `/gate` and `/namespaces`, within bounds of memory and connections. */
export function addWebhooks(app: App, context: AdmissionContext, { metrics, clock }: ServerDeps): void {
  const { policy, view, ownNamespace } = context;
  const limits = memoryLimits();
  const overload = (limit: OverloadLimit): void => metrics.overload(limit);
  const connections = new Connections(limits.connections, overload, serverLimits.handshakeTimeout);
  connections.bound(app.server);
  const bodies = new Bodies(limits.bodies, overload, ({ socket }) => connections.isKnown(socket));
  metrics.measureBodies(() => bodies.inFlight);
  // `bodies` reads them: a pod can have any key, `__proto__` too, and Fastify would copy keys by assignment
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (_request, _payload, done) => done(null));
  answerErrors(app, metrics);

  /** Decides while the memory of the body is reserved; counts and logs the decision. */
  const answer = (
    webhook: WebhookName,
    request: FastifyRequest,
    decide: (body: unknown) => Decided | Promise<Decided>,
  ): Promise<AdmissionReview> =>
    bodies.handle(request.raw, serverLimits.body[webhook], async (body) => {
      const start = clock.monotonicNow();
      const decided = await decide(body);
      const seconds = (clock.monotonicNow() - start) / 1000;
      metrics.answered(webhook, decided.decision, seconds);
      logDecision(request.log, webhook, decided, seconds);
      return decided.review ?? respond(decided.request.uid, decided.decision);
    });
  app.post('/mutate', (request) =>
    answer('mutate', request, (body) =>
      mutate(body, { policy: policy(), namespaces: view.namespaces, ownNamespace }),
    ),
  );
  app.post('/gate', (request) => answer('gate', request, (body) => gate(body, view, policy(), clock.now())));
  app.post('/namespaces', (request) =>
    answer('namespaces', request, (body) => reviewNamespace(body, policy())),
  );
}

/** What a webhook decided about a request. */
interface Decided {
  request: AnsweredRequest;
  decision: AdmissionDecision;
  /** The answer, where it is made already. */
  review?: AdmissionReview;
}

/** What is logged about a request. */
interface AnsweredRequest {
  uid: string;
  namespace: string;
  /** Name of the pod; absent where the request is about a namespace. */
  name?: string;
  operation: string;
  dryRun: boolean;
  /** The node that a pod is to be bound to. */
  node?: string;
}

/** What each webhook reviews. */
const subjects = { mutate: 'pod', gate: 'placement', namespaces: 'namespace' };

/** A webhook, by its path. */
type WebhookName = keyof typeof subjects;

/** Outcomes that are logged as warnings. */
const reported = new Set(['refused', 'warned', 'audited', 'released', 'unknown']);

/**
 * Logs one line for each decision: the request, the outcome and the reason. Pods can hold secrets in their environment,
 * so level info has only the pod's name. Level debug adds the patch, which consists of cni-gate's own values and those
 * of the configuration.
 *
 * @param seconds from the parsed request to the answer
 */
function logDecision(
  log: FastifyBaseLogger,
  webhook: WebhookName,
  { request, decision }: Decided,
  seconds: number,
): void {
  const { outcome, reason, profiles, operations, warnings, message } = decision;
  const line = {
    webhook,
    uid: request.uid,
    namespace: request.namespace,
    // pino leaves out what is undefined
    pod: request.name,
    node: request.node,
    operation: request.operation,
    dryRun: request.dryRun,
    outcome,
    reason,
    profiles,
    operations: operations.length,
    warnings,
    seconds,
  };
  if (reported.has(outcome)) log.warn(line, message ?? warnings[0]);
  else log.info(line, `${subjects[webhook]} reviewed`);
  if (operations.length > 0) log.debug({ uid: request.uid, patch: operations }, 'patch');
}
