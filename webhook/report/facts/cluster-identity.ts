import { version } from '../../lib/version.ts';
import type { DeploymentFacts } from './objects.ts';
import { foundIn, type Observation } from './observation.ts';

/** Which cluster an output is about, and the versions of cni-gate on both sides. Every JSON output has it as `cluster`. */
export type ClusterIdentity = ReturnType<typeof clusterIdentity>;

/**
 * The cluster that a client has asked.
 *
 * @param client one that has got an answer: its address is known since the first request
 */
export function clusterIdentity(
  { context, server }: { context: string | undefined; server: string },
  deployment: Observation<DeploymentFacts>,
) {
  // the tag of the Deployment's image; null without an installation, without a tag, and where it may not be read
  const serverVersion = foundIn(deployment)?.version ?? null;
  return { context: context ?? null, server, clientVersion: version, serverVersion };
}

/**
 * The identity in one line, which follows the verdict in text outputs.
 *
 * @param isGone whether it is known that cni-gate is not installed
 */
export function clusterText(
  { context, server, clientVersion, serverVersion }: ClusterIdentity,
  isGone: boolean,
): string {
  const where = context === null ? 'service account of the pod' : `context ${context}`;
  return `Cluster: ${server} (${where}). cni-gate: client ${clientVersion}, server ${serverVersion ?? (isGone ? 'not installed' : 'not known')}`;
}
