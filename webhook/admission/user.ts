import type { Demand } from './demand.ts';
import type { Pod } from './pod.ts';

/** `nobody` by convention; those below it are for meshes that take one of these for their proxy. */
const nobody = 65_534;

/** User and group of our own image (`USER` of the Dockerfile). */
const ofImage = 65_532;

/** What to set on the init container; what is absent, the pod or the image decides. */
export interface RunAs {
  runAsUser?: number;
  runAsGroup?: number;
}

/**
 * The user and group to set on the init container. They are set only where a check needs them, or where the container
 * would otherwise run as root or as a user or group that the redirect exempts: OpenShift gives ids by range and refuses
 * others.
 */
export function runAsFor(pod: Pod, demand: Demand): RunAs {
  const { asUser, asGroup, container } = demand;
  if (asUser !== undefined) return { runAsUser: asUser, runAsGroup: asGroup ?? asUser };
  const { runAsUser, runAsGroup } = pod.spec.securityContext ?? {};
  // who runs in the image of a network's own validator is not known
  const image = container === undefined ? ofImage : undefined;
  const user = runAsUser ?? image;
  const group = runAsGroup ?? (runAsUser === undefined || runAsUser === null ? image : undefined);
  if (user !== undefined && !mayRunAs(user, demand)) return harmless(demand);
  if (group !== undefined && !mayRunInGroup(group, demand)) {
    return { runAsGroup: harmless(demand).runAsGroup };
  }
  return {};
}

/** A user and a group that no mesh exempts, the same number where that can be. */
function harmless(demand: Demand): Required<RunAs> {
  const below = (may: (id: number) => boolean): number => {
    let id = nobody;
    while (!may(id)) id--;
    return id;
  };
  const user = below((id) => mayRunAs(id, demand));
  return {
    runAsUser: user,
    runAsGroup: mayRunInGroup(user, demand) ? user : below((id) => mayRunInGroup(id, demand)),
  };
}

/** Whether the proof holds its meaning when it runs as this user. */
export function mayRunAs(user: number, demand: Demand): boolean {
  return user !== 0 && !demand.notAsUsers.includes(user);
}

/** Whether the proof holds its meaning when it runs in this primary group. */
export function mayRunInGroup(group: number, demand: Demand): boolean {
  return !demand.notAsGroups.includes(group);
}
