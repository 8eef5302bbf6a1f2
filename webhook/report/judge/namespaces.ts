import { combinedOf } from '../../core/profiles/policy.ts';
import { type Profile, placesOf } from '../../core/profiles/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { nameOf, profileLabel } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import { proofStates } from '../observe/pods.ts';
import { countsText, type Finding, failed, known, knownPolicy, passed, warning } from './row.ts';

/**
 * The profiles that the labels of namespaces and pods name. A label with an unknown profile is ignored:
 * admission refuses its pods, or has admitted them under an earlier configuration.
 */
export function profilesInUse({ namespaces, pods, configuration }: Facts): Profile[] {
  const labelled = [...(namespaces.found ?? []), ...(pods.found ?? [])];
  const labels = new Set(labelled.flatMap(({ profile }) => profile ?? []));
  const combined = Array.from(labels, (label) => combinedOf(configuration.policy, label));
  return [...new Set(combined.flatMap((used) => (used instanceof CniGateError ? [] : used)))];
}

/** The namespaces that opted in, with the number of pods in each state of their proof. */
export function checkNamespaces(facts: Facts): Finding[] {
  const { namespace, pods } = facts;
  const optIns = known(facts.namespaces) ?? [];
  const podsOf = Map.groupBy(pods.found ?? [], (pod) => pod.namespace);
  const label = (name: string): string =>
    `kubectl label --overwrite namespace ${name} ${profileLabel}=PROFILE`;
  const findings = optIns.flatMap(({ name: object, profile }) => {
    const what = 'it has not opted in, so nothing of it is held or proved';
    const isOut = profile === undefined && object === namespace;
    if (isOut) return failed('CNI_GATE_NOT_OPTED_IN', what, label(object), { object });
    if (profile === undefined) return [];
    const error = combinedOf(facts.configuration.policy, profile);
    if (!(error instanceof CniGateError)) {
      if (pods.found === undefined) return passed(profile, { object });
      const counts: Record<string, number> = Object.fromEntries(proofStates.map((state) => [state, 0]));
      for (const { proof } of podsOf.get(object) ?? []) counts[proof] = (counts[proof] ?? 0) + 1;
      // these pods passed without an answer from their node
      const weak = podsOf.get(object)?.filter(({ evidence }) => evidence?.wayNotShown).length ?? 0;
      const all = { ...counts, 'way-not-shown': weak };
      return passed(`${profile}: ${countsText(all) || 'no pods'}`, { object, counts: all });
    }
    knownPolicy(facts.configuration);
    return failed(error.code, error.message, `Label it again: ${label(object)}`, { object });
  });
  if (findings.length > 0 || namespace !== undefined) return findings;
  return [passed('no namespace has opted in', { hint: 'Label one; "check --pre" proposes profiles' })];
}

/** The DaemonSets that a profile names and that do not exist in the cluster. */
function missingOf({ daemonSets: wanted }: Profile, { daemonSets }: Facts): string[] {
  const existing = new Set((daemonSets.found ?? []).map(({ facts }) => nameOf(facts)));
  return wanted
    .map((daemonSet) => placesOf(daemonSet).map(nameOf))
    .filter((places) => !places.some((name) => existing.has(name)))
    .map((places) => places.join(' or '));
}

/** Whether the DaemonSets of all profiles in use exist: the gate holds no pod for a missing DaemonSet. */
export function checkDaemonSets(facts: Facts): Finding[] {
  knownPolicy(facts.configuration);
  known(facts.namespaces);
  known(facts.daemonSets);
  known(facts.pods);
  const hint =
    'Compare "kubectl get daemonsets -A" with the profile, and correct the profile or the label of the namespace';
  return profilesInUse(facts).flatMap((profile) => {
    const object = profile.name;
    const texts = missingOf(profile, facts).map(
      (name) => `DaemonSet ${name} does not exist: nothing is held for it`,
    );
    return texts.map((what) => failed('CNI_GATE_DAEMONSET_UNKNOWN', what, hint, { object }));
  });
}

/** The profile without a DaemonSet, for clusters where no profile with a DaemonSet applies to every pod. */
const withoutDaemonSet = 'pod-network';

/**
 * Before an installation: proposes a label value with all profiles whose DaemonSets exist, because each profile itself
 * selects its pods. If none of them applies to every pod, the profile without a DaemonSet is proposed too.
 */
export function checkNetworks(facts: Facts): Finding[] {
  known(facts.daemonSets);
  const { policy } = facts.configuration;
  const fitting = [...policy.profiles.values()].filter(
    (profile) => profile.daemonSets.length > 0 && missingOf(profile, facts).length === 0,
  );
  const isForEveryPod = ({ when }: Profile): boolean =>
    [when].flat().some((condition) => Object.keys(condition).length === 0);
  const isEnough = fitting.some(isForEveryPod) || !policy.profiles.has(withoutDaemonSet);
  const names = [...fitting.map(({ name }) => name), ...(isEnough ? [] : [withoutDaemonSet])].toSorted();
  const label = names.join('.');
  const combined = label !== '' && combinedOf(policy, label);
  const fits = `profiles that fit: ${names.join(', ')}`;
  if (combined instanceof CniGateError) return [warning(fits, combined.message)];
  const hint = label === '' ? '' : `kubectl label namespace NAMESPACE ${profileLabel}=${label}`;
  const unknown = `no profile knows the DaemonSet of the pod network: ${withoutDaemonSet} fits every network`;
  if (!isEnough) return [warning(unknown, hint)];
  return label === '' ? [warning('no profile fits', hint)] : [passed(fits, { hint })];
}
