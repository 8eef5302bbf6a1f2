import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { gate } from '../admission/gate.ts';
import { respond } from '../admission/respond.ts';
import type { AdmissionReview } from '../admission/review.ts';
import type { ClusterView } from '../core/cluster-view.ts';
import type { Namespaces } from '../core/facts/namespace.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { CniGateError } from '../lib/errors.ts';
import { mostConnections, serverLimits } from '../lib/limits.ts';
import { Bodies } from './bodies.ts';
import { Connections } from './connections.ts';
import type { App, ServerDeps } from './deps.ts';
import { answerErrors } from './http-errors.ts';
import { largeBodies } from './large-bodies.ts';
import type { OverloadLimit } from './metrics.ts';
import {
  type Decided,
  type NamespaceAnswer,
  type Reading,
  readReview,
  type WebhookName,
} from './read-review.ts';

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
  const connections = new Connections(mostConnections(), overload, serverLimits.handshakeTimeout);
  connections.bound(app.server);
  const bodies = new Bodies(overload, ({ socket }) => connections.isKnown(socket));
  metrics.measureBodies(() => bodies.inFlight);
  const large = largeBodies(overload);
  app.addHook('onClose', () => large.close());
  // `bodies` reads the bodies: Fastify would copy keys by assignment, and a pod may have a key such as `__proto__`
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (_request, _payload, done) => done(null));
  answerErrors(app, metrics);

  const read = (webhook: WebhookName, text: Buffer, asked?: NamespaceAnswer): Promise<Reading> =>
    text.length <= serverLimits.smallBody
      ? readReview(webhook, text, {
          policy: policy(),
          ownNamespace,
          namespace: (name) => asked ?? knownNow(view.namespaces, name),
        })
      : large.read({
          webhook,
          text,
          configuration: policy().configuration,
          ownNamespace,
          namespace: asked,
        });
  const decide = async (webhook: WebhookName, text: Buffer, asked?: NamespaceAnswer): Promise<Decided> => {
    const reading = await read(webhook, text, asked);
    if ('unknownNamespace' in reading)
      return decide(webhook, text, await askFor(view.namespaces, reading.unknownNamespace));
    return 'placement' in reading ? gate(reading.placement, view, policy(), Date.now()) : reading;
  };
  const answer = (webhook: WebhookName, request: FastifyRequest): Promise<AdmissionReview> =>
    bodies.handle(request.raw, async (text) => {
      const start = performance.now();
      const decided = await decide(webhook, text);
      const seconds = (performance.now() - start) / 1000;
      metrics.answered(webhook, decided.decision, seconds);
      logDecision(request.log, webhook, decided, seconds);
      return decided.review ?? respond(decided.request.uid, decided.decision);
    });
  for (const webhook of ['mutate', 'gate', 'namespaces'] as const)
    app.post(`/${webhook}`, (request) => answer(webhook, request));
}

/** The namespace's facts if they are known already; undefined if a request to the API server is needed. */
function knownNow(namespaces: Namespaces, name: string): NamespaceAnswer | undefined {
  const facts = namespaces.facts(name);
  if (!(facts instanceof Promise)) return { facts };
  // `askFor` waits for the same promise, and handles its error
  facts.catch(() => {});
  return undefined;
}

async function askFor(namespaces: Namespaces, name: string): Promise<NamespaceAnswer> {
  try {
    return { facts: await namespaces.facts(name) };
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    return { code: error.code, message: error.message };
  }
}

const subjects = { mutate: 'pod', gate: 'placement', namespaces: 'namespace' };

/** Outcomes that are logged as warnings. */
const reported = new Set(['refused', 'warned', 'audited', 'released', 'unknown']);

/**
 * Logs a decision. At level info, only names of the pod are logged, because its environment may contain secrets. Level
 * debug adds the patch, which has only values of cni-gate and of the configuration.
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
