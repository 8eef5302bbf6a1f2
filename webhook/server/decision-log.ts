import type { FastifyBaseLogger } from 'fastify';
import type { Mutation } from '../admission/mutate.ts';

/**
 * One line for each decision: who, what came of it and why. Pods may hold secrets in their environment, so
 * nothing of a pod but its name is logged at info; debug adds the patch, which is made of cni-gate's own values
 * and the configuration's.
 */
export function logDecision(
  log: FastifyBaseLogger,
  webhook: string,
  { request, decision }: Mutation,
  seconds: number,
): void {
  const { outcome, reason, profiles, operations, warnings, message } = decision;
  const line = {
    webhook,
    uid: request.uid,
    namespace: request.namespace,
    pod: request.name,
    operation: request.operation,
    dryRun: request.dryRun,
    outcome,
    reason,
    profiles,
    operations: operations.length,
    warnings,
    seconds,
  };
  if (outcome === 'refused' || outcome === 'warned') log.warn(line, message ?? warnings[0]);
  else log.info(line, 'pod reviewed');
  log.debug({ uid: request.uid, patch: operations }, 'patch');
}
