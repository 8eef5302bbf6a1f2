import { installedPolicies, leaderLease, profileLabel, validatorContainer } from '../../lib/names.ts';
import type { OptedIn } from '../checks/namespaces.ts';
import type { StatusFacts } from '../facts/model.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import type { FeatureStatus, Status } from './model.ts';

/** So many names are listed. */
const few = 5;

/**
 * The parts of a status that differ where cni-gate is not installed: nothing is in force, no pod is held or has to be
 * proved, and what is left of an installation is named.
 */
export function withoutInstallation(
  features: readonly FeatureStatus[],
  { installation }: StatusFacts,
  namespaces: readonly OptedIn[],
): Partial<Status> {
  return {
    features: features.map((one) => ({ ...one, inForce: false, why: 'cni-gate is not installed' })),
    installation: [],
    waits: [],
    unprovedNodes: 0,
    daemonSets: [],
    nodes: [],
    heldPods: [],
    unprovedPods: [],
    failedPods: [],
    waitingPods: [],
    duplicateAddresses: [],
    nodeProofs: [],
    leftBehind: [...labels(namespaces), ...containers(installation), ...objects(installation)],
  };
}

function labels(namespaces: readonly OptedIn[]): string[] {
  const names = namespaces.map(({ name }) => name);
  if (names.length === 0) return [];
  const which = names.length > few ? '--all' : names.join(' ');
  return [
    `label ${profileLabel} of ${listed('namespace', names)}: kubectl label namespaces ${which} ${profileLabel}-`,
  ];
}

function containers({ injected = 'absent' }: StatusFacts['installation']): string[] {
  const unknown = unknownIn(injected);
  if (unknown) return [`init container ${validatorContainer}: not known in which pods, as ${unknown.why}`];
  const found = foundIn(injected) ?? new Map<string, number>();
  const names = [...found.keys()].toSorted();
  if (names.length === 0) return [];
  const sum = [...found.values()].reduce((one, other) => one + other);
  const count = sum === 1 ? '1 pod' : `${sum} pods`;
  return [
    `init container ${validatorContainer} in ${count} of ${listed('namespace', names)}, which runs again when a node reboots: recreate the pods, as with "kubectl -n ${names[0]} rollout restart deployment"`,
  ];
}

function objects({ policies, lease, namespace }: StatusFacts['installation']): string[] {
  const found = [policies.pods, policies.serviceAccount].flatMap(({ policy, binding }, index) => [
    ...(foundIn(binding) ? [`validatingadmissionpolicybinding ${installedPolicies[index]}`] : []),
    ...(foundIn(policy) ? [`validatingadmissionpolicy ${installedPolicies[index]}`] : []),
  ]);
  if (foundIn(lease)) found.push(`-n ${namespace} lease ${leaderLease}`);
  return found.map((object) => `${object.replace(/^-n \S+ /, '')}: kubectl delete ${object}`);
}

/** Names after a noun, such as `namespaces a, b and 3 more`. */
function listed(noun: string, names: readonly string[]): string {
  const more = names.length - few;
  return `${noun}${names.length > 1 ? 's' : ''} ${names.slice(0, few).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
