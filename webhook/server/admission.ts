import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { gate } from '../admission/gate.ts';
import { respond } from '../admission/respond.ts';
import type { AdmissionReview } from '../admission/review.ts';
import type { ClusterView } from '../core/cluster-view.ts';
import type { Namespaces } from '../core/facts/namespace.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { mostConnections, serverLimits } from '../lib/limits.ts';
import { Bodies } from './bodies.ts';
import { Connections } from './connections.ts';
import type { App, ServerDeps } from './deps.ts';
import { answerErrors } from './http-errors.ts';
import type { OverloadLimit } from './metrics.ts';
import { type Decided, readReview, type WebhookName } from './read-review.ts';

/** What the webhooks' decisions depend on besides the requests. */
export interface AdmissionContext {
  /** Returns the policy in force. */
  policy: () => Policy;
  view: ClusterView;
  /** The namespace in which cni-gate runs. Its pods are exempt. */
  ownNamespace: string | undefined;
}

/** Adds the routes `POST /mutate`, `/gate` and `/namespaces`, with limits on memory, time and connections. */
export function addWebhooks(app: App, context: AdmissionContext, { metrics }: ServerDeps): void {
  const { policy, view, ownNamespace } = context;
  const overload = (limit: OverloadLimit): void => metrics.overload(limit);
  const connections = new Connections(mostConnections, overload, serverLimits.handshakeTimeout);
  connections.bound(app.server);
  const bodies = new Bodies(overload, ({ socket }) => connections.isKnown(socket));
  // `bodies` reads the bodies: Fastify would copy keys by assignment, and a pod may have a key such as `__proto__`
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (_request, _payload, done) => done(null));
  answerErrors(app, metrics);

  const decide = async (
    webhook: WebhookName,
    text: Buffer,
    turn: () => Promise<void>,
    namespaces: Namespaces = view.namespaces,
  ): Promise<Decided> => {
    const reading = readReview(webhook, text, { policy: policy(), ownNamespace, namespaces });
    if ('missing' in reading) {
      const facts = await resultOf(reading.missing);
      // many calls may have waited for the same namespace, so they take turns
      await turn();
      return decide(webhook, text, turn, { facts });
    }
    return 'placement' in reading ? gate(reading.placement, view, policy(), Date.now()) : reading;
  };
  const answer = (webhook: WebhookName, request: FastifyRequest): Promise<AdmissionReview> =>
    bodies.handle(request.raw, async (text, turn) => {
      const start = performance.now();
      const decided = await decide(webhook, text, turn);
      const seconds = (performance.now() - start) / 1000;
      metrics.answered(webhook, decided.decision, seconds);
      logDecision(request.log, webhook, decided, seconds);
      return decided.review ?? respond(decided.request.uid, decided.decision);
    });
  for (const webhook of ['mutate', 'gate', 'namespaces'] as const)
    app.post(`/${webhook}`, (request) => answer(webhook, request));
}

/** A function that returns a promise's result or throws its error. `mutate` then refuses the pod. */
const resultOf = <T>(promise: Promise<T>): Promise<() => T> =>
  promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );

const subjects = { mutate: 'pod', gate: 'placement', namespaces: 'namespace' };

/** Outcomes that are logged as warnings. */
const reported = new Set(['refused', 'warned', 'audited', 'released', 'unknown']);

/**
 * Logs a decision. At level info, the log gets only names from the pod, because the pod's environment may contain
 * secrets. Level debug adds the patch, whose values come only from cni-gate and the configuration.
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
    // pino omits undefined values
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
