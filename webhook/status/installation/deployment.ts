import type { Observation } from './facts.ts';
import { type DeploymentFacts, foundIn, unknownIn } from './facts.ts';
import { inOrder, notKnown, type PartResult, wrong } from './part.ts';

/**
 * Whether the Deployment has the replicas that it is to have. One that does not exist is no fault: the Service's
 * endpoints may be somebody else's, such as containers of docker compose.
 *
 * @param without what becomes of new pods while no replica answers
 */
export function judgeDeployment(
  namespace: string,
  name: string,
  deployment: Observation<DeploymentFacts>,
  without: string,
): PartResult {
  const subject = { part: 'deployment', object: `Deployment ${namespace}/${name}` } as const;
  const unknown = unknownIn(deployment);
  if (unknown !== undefined) return notKnown(subject, unknown, false);
  const found = foundIn(deployment);
  if (found === undefined) {
    const why = 'it does not exist; whatever stands behind the Service is run in another way';
    return notKnown(subject, { why, forbidden: false }, false);
  }
  const { desired, ready, updated, stuck } = found;
  const fault = (what: string, advice: string): PartResult =>
    wrong(subject, 'CNI_GATE_DEPLOYMENT', ready === 0 ? `${what}, so ${without}` : what, advice);
  if (desired === 0) {
    const scale = `kubectl -n ${namespace} scale deployment ${name} --replicas=2`;
    return fault('it is scaled to 0 replicas', `Run "${scale}"`);
  }
  const pods = `Look at "kubectl -n ${namespace} get pods"`;
  const count = `${ready} of ${desired} replicas are ready`;
  if (ready < desired) return fault(count, pods);
  if (stuck !== undefined) return fault(`its rollout got stuck: ${stuck}`, pods);
  return inOrder(subject, updated < desired ? `${count}, ${updated} updated` : count);
}
