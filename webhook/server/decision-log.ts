import type { FastifyBaseLogger } from 'fastify';
import type { AdmissionDecision } from '../admission/decision.ts';

/** What is logged about a request. */
export interface AnsweredRequest {
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
export type WebhookName = keyof typeof subjects;

/** Outcomes that are logged as warnings. */
const reported = new Set(['refused', 'warned', 'audited', 'released', 'unknown']);

/**
 * Logs one line for each decision: the request, the outcome and the reason. Pods can hold secrets in their environment,
 * so level info has only the pod's name. Level debug adds the patch, which consists of cni-gate's own values and those
 * of the configuration.
 *
 * @param seconds from the parsed request to the answer
 */
export function logDecision(
  log: FastifyBaseLogger,
  webhook: WebhookName,
  { request, decision }: { request: AnsweredRequest; decision: AdmissionDecision },
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
