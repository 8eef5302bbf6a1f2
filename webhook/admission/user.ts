import type { Demand } from './demand.ts';
import type { Pod } from './pod.ts';

/** `nobody` by convention, and some below it for meshes that take one of these for their proxy. */
const harmless = [65_534, 65_533, 65_532];

/**
 * The user id to set on the init container, or undefined where the pod's or the image's own will do. One is set
 * only where a check needs it, or where the pod would run the container as root or as a proxy's user, whom the
 * redirect leaves out: OpenShift gives ids by range and refuses others.
 */
export function userFor(pod: Pod, demand: Demand): number | undefined {
  if (demand.asUser !== undefined) return demand.asUser;
  const ofPod = pod.spec.securityContext?.runAsUser ?? undefined;
  if (ofPod === undefined || mayRunAs(ofPod, demand)) return undefined;
  return harmless.find((user) => mayRunAs(user, demand));
}

/** Whether the proof holds its meaning when it runs as this user. */
export function mayRunAs(user: number, demand: Demand): boolean {
  return user !== 0 && !demand.notAsUsers.includes(user);
}
