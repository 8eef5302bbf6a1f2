import type { Policy } from '../../config/policy.ts';
import type { DaemonSetRef } from '../../config/types.ts';
import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import type { Facts } from '../facts/collect.ts';
import { foundIn } from '../facts/observation.ts';
import { counted, type Finding, failed, few, judged, notKnown, passed, skipped } from './finding.ts';

/** Something that is wrong, and its code. */
export interface Fault {
  code: ErrorCode;
  message: string;
}

/** A namespace that opted in. */
export interface OptedIn {
  name: string;
  profile: string;
}

/** The namespaces that opted in, by name; none where they may not be read. */
export const optedIn = ({ namespaces }: Pick<Facts, 'namespaces'>): OptedIn[] =>
  (foundIn(namespaces) ?? [])
    .flatMap(({ name, profile }) => (profile === undefined ? [] : [{ name, profile }]))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

/**
 * The profiles that labels of namespaces and pods ask for, and what is wrong with those of namespaces. A wrong label of
 * a pod is no fault: the pod was refused, or the configuration has changed since.
 */
export function profilesInUse(
  policy: Policy,
  namespaces: readonly OptedIn[],
  ofPods: Iterable<string> = [],
): { profiles: Set<string>; faults: Fault[] } {
  const faults: Fault[] = [];
  const labels = [...namespaces, ...Array.from(ofPods, (profile) => ({ name: undefined, profile }))];
  const profiles = labels.flatMap(({ name, profile }) => {
    try {
      return policy.combineProfiles(profile).profiles.map((one) => one.name);
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      if (name !== undefined)
        faults.push({ code: error.code, message: `namespace ${name}: ${error.message}` });
      return [];
    }
  });
  return { profiles: new Set(profiles), faults };
}

/** A fault for each DaemonSet of these profiles that does not exist. */
export function missingDaemonSets(
  policy: Policy,
  used: ReadonlySet<string>,
  exists: (daemonSet: DaemonSetRef) => boolean,
): Fault[] {
  const asking = new Map<string, string[]>();
  for (const { name: profile, daemonSets } of policy.profiles.values()) {
    for (const daemonSet of used.has(profile) ? daemonSets : []) {
      const key = `${daemonSet.namespace}/${daemonSet.name}`;
      if (!exists(daemonSet)) asking.set(key, [...(asking.get(key) ?? []), profile]);
    }
  }
  return Array.from(asking, ([key, profiles]) => ({
    code: 'CNI_GATE_DAEMONSET_UNKNOWN',
    message: `DaemonSet ${key} of profile ${profiles.join(', ')} does not exist: nothing is held back for it`,
  }));
}

const unknownConfiguration = notKnown({ why: 'the configuration is not known' });

/** Whether every label names profiles that exist. */
export function checkLabels(facts: Facts): Finding {
  const { configuration, namespaces } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const found = optedIn(facts);
  const { faults } = profilesInUse(configuration.policy, found);
  const hint = 'Label it again: kubectl label --overwrite namespace NAME cni-gate.io/profile=PROFILE';
  return judged(
    namespaces,
    () =>
      byFaults(faults, hint) ??
      (found.length === 0
        ? skipped('no namespace has opted in', 'Label one, and "check --pre" proposes profiles')
        : passed(`${counted(found.length, 'namespace')} opted in`)),
    true,
  );
}

/** Whether the DaemonSets of the profiles in use exist. */
export function checkDaemonSets(facts: Facts): Finding {
  const { configuration, namespaces, daemonSets } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const { policy } = configuration;
  const { profiles } = profilesInUse(policy, optedIn(facts));
  return judged(namespaces, () =>
    judged(daemonSets, (found = []) => {
      if (profiles.size === 0) return skipped('no profile is in use');
      const hint =
        'Compare "kubectl get daemonsets -A" with the profile, and correct the profile or the label of the namespace';
      const missing = missingDaemonSets(policy, profiles, (wanted) =>
        found.some(({ namespace, name }) => namespace === wanted.namespace && name === wanted.name),
      );
      return byFaults(missing, hint) ?? passed(`those of ${few([...profiles].toSorted())} exist`);
    }),
  );
}

/** A check that fails with the first of these faults; undefined where there are none. */
function byFaults(faults: readonly Fault[], hint: string): Finding | undefined {
  const [first] = faults;
  if (first === undefined) return undefined;
  const more = faults.length > 1 ? `; and ${faults.length - 1} more, which "cni-gate status" lists` : '';
  return failed(first.code, first.message + more, hint);
}
