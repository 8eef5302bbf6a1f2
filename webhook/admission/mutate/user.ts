import type { Pod } from '../pod.ts';
import type { ProofRequirements } from './proof-requirements.ts';

/** `nobody` by convention; those below it are for meshes whose proxy uses one of these. */
const nobody = 65_534;

/** User and group of our own image (`USER` of the Dockerfile). */
const ofImage = 65_532;

/** The ids to set on the init container; if absent, the pod or the image decides. */
export interface RunAs {
  runAsUser?: number;
  runAsGroup?: number;
}

/**
 * Returns the user and group to set on the init container. They are set only if a check needs them, or if the container
 * would otherwise run as root or as an id that the redirect exempts: OpenShift assigns ids by range and refuses others.
 */
export function runAsFor(pod: Pod, requirements: ProofRequirements): RunAs {
  const { asUser, asGroup, container } = requirements;
  if (asUser !== undefined) return { runAsUser: asUser, runAsGroup: asGroup ?? asUser };
  const { runAsUser, runAsGroup } = pod.spec.securityContext ?? {};
  // the user in the image of a network's own validator is unknown
  const image = container === undefined ? ofImage : undefined;
  const user = runAsUser ?? image;
  const group = runAsGroup ?? (runAsUser === undefined || runAsUser === null ? image : undefined);
  if (user !== undefined && !mayRunAs(user, requirements)) return harmless(requirements);
  if (group !== undefined && !mayRunInGroup(group, requirements)) {
    return { runAsGroup: harmless(requirements).runAsGroup };
  }
  return {};
}

/** A user and a group that no mesh exempts, with the same number if possible. */
function harmless(requirements: ProofRequirements): Required<RunAs> {
  const below = (may: (id: number) => boolean): number => {
    let id = nobody;
    while (!may(id)) id--;
    return id;
  };
  const user = below((id) => mayRunAs(id, requirements));
  return {
    runAsUser: user,
    runAsGroup: mayRunInGroup(user, requirements) ? user : below((id) => mayRunInGroup(id, requirements)),
  };
}

/** Whether the proof is meaningful when it runs as this user. */
export function mayRunAs(user: number, requirements: ProofRequirements): boolean {
  return user !== 0 && !requirements.notAsUsers.includes(user);
}

/** Whether the proof is meaningful when it runs with this primary group. */
export function mayRunInGroup(group: number, requirements: ProofRequirements): boolean {
  return !requirements.notAsGroups.includes(group);
}
