import { profileLabel, validatorContainer } from '../../lib/names.ts';
import { counted, few } from '../checks/finding.ts';
import type { OptedIn } from '../checks/namespaces.ts';
import type { InstallationFacts } from '../facts/installation.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';

/** What of an installation is left in namespaces and pods where cni-gate is not installed, and how to remove it. */
export const leftBehind = (installation: InstallationFacts, namespaces: readonly OptedIn[]): string[] => [
  ...labels(namespaces.map(({ name }) => name)),
  ...containers(installation),
];

function labels(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const which = names.length > 5 ? '--all' : names.join(' ');
  return [`label ${profileLabel} of ${listed(names)}: kubectl label namespaces ${which} ${profileLabel}-`];
}

function containers({ injected = 'absent' }: InstallationFacts): string[] {
  const unknown = unknownIn(injected);
  if (unknown) return [`init container ${validatorContainer}: not known in which pods, as ${unknown.why}`];
  const found = foundIn(injected) ?? new Map<string, number>();
  const names = [...found.keys()].toSorted();
  if (names.length === 0) return [];
  const pods = [...found.values()].reduce((one, other) => one + other);
  return [
    `init container ${validatorContainer} in ${counted(pods, 'pod')} of ${listed(names)}, which runs again when a node reboots: recreate the pods, as with "kubectl -n ${names[0]} rollout restart deployment"`,
  ];
}

const listed = (names: readonly string[]): string => `namespace${names.length > 1 ? 's' : ''} ${few(names)}`;
