import type { Policy } from '../config/policy.ts';
import type { DaemonSetRef } from '../config/types.ts';
import { CniGateError } from '../lib/errors.ts';
import type { Fault, Status } from './model.ts';

/** A namespace that opted in. */
export type OptedIn = Pick<Status['namespaces'][number], 'name' | 'profile'>;

/** The profiles that labels of namespaces and pods ask for, and what is wrong with those labels. */
export function profilesInUse(
  policy: Policy,
  namespaces: Iterable<OptedIn>,
  ofPods: ReadonlySet<string>,
): { profiles: Set<string>; faults: Fault[] } {
  const profiles = new Set<string>();
  const faults: Fault[] = [];
  const use = (label: string): void => {
    for (const { name } of policy.join(label).profiles) profiles.add(name);
  };
  for (const { name, profile } of namespaces) {
    try {
      use(profile);
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      faults.push({ code: error.code, message: `namespace ${name}: ${error.message}` });
    }
  }
  for (const label of ofPods) {
    try {
      use(label);
    } catch (error) {
      // a pod that asks for what there is not was refused, or the configuration has changed since: no fault of now
      if (!(error instanceof CniGateError)) throw error;
    }
  }
  return { profiles, faults };
}

/** A DaemonSet, and the profiles that name it. */
export interface NamedDaemonSet {
  daemonSet: DaemonSetRef;
  profiles: string[];
}

/** Every DaemonSet of the configuration once, by `namespace/name`. */
export function daemonSetsOf(policy: Policy): Map<string, NamedDaemonSet> {
  const found = new Map<string, NamedDaemonSet>();
  for (const { name: profile, daemonSets } of policy.profiles.values()) {
    for (const daemonSet of daemonSets) {
      const key = `${daemonSet.namespace}/${daemonSet.name}`;
      const { profiles } = found.get(key) ?? { profiles: [] };
      found.set(key, { daemonSet, profiles: [...profiles, profile] });
    }
  }
  return found;
}
