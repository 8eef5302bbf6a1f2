import type { FastifyBaseLogger } from 'fastify';
import type { Answerable } from '../admission/respond.ts';

/** What is told of a request. */
interface Asked {
  uid: string;
  namespace: string;
  /** The pod's; absent where the request is about a namespace. */
  name?: string;
  operation: string;
  dryRun: boolean;
  /** Where a pod is to be put. */
  node?: string;
}

/** What is reviewed, by webhook. */
const subjects = { mutate: 'pod', gate: 'placement', namespaces: 'namespace' };

/** Outcomes that somebody should hear of. */
const reported = new Set(['refused', 'warned', 'audited', 'released', 'unknown']);

/**
 * One line for each decision: who, what came of it and why. Pods may hold secrets in their environment, so
 * nothing of a pod but its name is logged at info; debug adds the patch, which is made of cni-gate's own values
 * and the configuration's.
 */
export function logDecision(
  log: FastifyBaseLogger,
  webhook: keyof typeof subjects,
  { request, decision }: { request: Asked; decision: Answerable },
  seconds: number,
): void {
  const { outcome, reason, profiles, operations = [], warnings, message } = decision;
  const line = {
    webhook,
    uid: request.uid,
    namespace: request.namespace,
    ...(request.name !== undefined && { pod: request.name }),
    ...(request.node !== undefined && { node: request.node }),
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
