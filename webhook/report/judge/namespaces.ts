import { combinedOf } from '../../core/profiles/policy.ts';
import { type ProofResources, placesOf } from '../../core/profiles/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { nameOf, profileLabel } from '../../lib/names.ts';
import { quantity } from '../../lib/quantity.ts';
import type { Facts, LimitFacts } from '../observe/observe.ts';
import {
  type CheckResult,
  failed,
  few,
  fewTexts,
  known,
  knownPolicy,
  passed,
  recreateText,
  skipped,
  warning,
} from './check-result.ts';
import { checkPresence, isGone } from './installation.ts';
import { isProofOnly } from './policies.ts';

/** Compares by code units, so that the order does not depend on the locale. */
export const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** The namespaces that opted in, sorted by name; empty where namespaces may not be read. */
export const optedIn = ({ namespaces }: Pick<Facts, 'namespaces'>): { name: string; profile: string }[] =>
  (namespaces.found ?? [])
    .flatMap(({ name, profile }) => (profile === undefined ? [] : [{ name, profile }]))
    .toSorted((left, right) => compare(left.name, right.name));

/**
 * The profiles that the labels of namespaces and pods name. A pod's label that names no existing profile is ignored:
 * admission refused the pod, or the configuration has changed since.
 */
export function profilesInUse(facts: Facts): Set<string> {
  const ofPods = (facts.pods?.found ?? []).flatMap(({ profile }) => profile ?? []);
  const labels = new Set([...optedIn(facts).map(({ profile }) => profile), ...ofPods]);
  const combined = Array.from(labels, (label) => combinedOf(facts.configuration.policy, label));
  return new Set(
    combined.flatMap((used) => (used instanceof CniGateError ? [] : used.map(({ name }) => name))),
  );
}

export function checkLabels(facts: Facts): CheckResult {
  const policy = knownPolicy(facts.configuration);
  known(facts.namespaces, true);
  const labelled = optedIn(facts);
  const wrong = [...Map.groupBy(labelled, ({ profile }) => profile)].flatMap(([profile, same]) => {
    const error = combinedOf(policy, profile);
    if (!(error instanceof CniGateError)) return [];
    const names = few(same.map(({ name }) => name));
    return [{ code: error.code, text: `namespace${same.length > 1 ? 's' : ''} ${names}: ${error.message}` }];
  });
  const [first] = wrong;
  const hint = 'Label it again: kubectl label --overwrite namespace NAME cni-gate.io/profile=PROFILE';
  if (first) return failed(first.code, fewTexts(wrong.map(({ text }) => text)), hint);
  if (labelled.length > 0) return passed(`${labelled.length} opted in`);
  return skipped('no namespace has opted in', 'Label one, and "check --pre" proposes profiles');
}

/** The DaemonSets that each profile names and that do not exist in the cluster. */
const missingOf = ({ configuration, daemonSets }: Facts) => {
  const existing = new Set((daemonSets.found ?? []).map(nameOf));
  return [...configuration.policy.profiles.values()].map(({ name: profile, daemonSets: wanted }) => {
    const missing = wanted
      .map((daemonSet) => placesOf(daemonSet).map(nameOf))
      .filter((places) => !places.some((name) => existing.has(name)))
      .map((places) => places.join(' or '));
    return { profile, missing, isAbsent: missing.length === wanted.length };
  });
};

export function checkDaemonSets(facts: Facts): CheckResult {
  if (isProofOnly(facts)) return skipped('without a server, nothing depends on DaemonSets');
  knownPolicy(facts.configuration);
  known(facts.namespaces);
  known(facts.daemonSets);
  const used = profilesInUse(facts);
  if (used.size === 0) return skipped('no profile is in use');
  const texts = missingOf(facts)
    .filter(({ profile }) => used.has(profile))
    .flatMap(({ profile, missing }) =>
      missing.map((name) => `DaemonSet ${name} of profile ${profile} does not exist`),
    );
  if (texts.length === 0) return passed(`those of ${few([...used].toSorted())} exist`);
  const hint =
    'Compare "kubectl get daemonsets -A" with the profile, and correct the profile or the label of the namespace';
  return failed('CNI_GATE_DAEMONSET_UNKNOWN', `${fewTexts(texts)}: nothing is held back for it`, hint);
}

/**
 * Whether running pods have the configured `proof.mode`, because a pod keeps the mode with which it was created.
 * Undefined if cni-gate is not installed, or if the configured mode is `warn` or not known.
 */
export function checkProofMode(facts: Facts): CheckResult | undefined {
  const { pods = {} } = facts;
  const { policy, trouble } = facts.configuration;
  if (isGone(facts) || trouble !== undefined || policy.proof.mode === 'warn') return undefined;
  const inWarnMode = (known(pods) ?? []).filter(({ warns }) => warns);
  if (inWarnMode.length === 0) return passed('no pod is in warn mode');
  const count = inWarnMode.length === 1 ? '1 pod' : `${inWarnMode.length} pods`;
  return warning(
    `${count} in warn mode, created while proof.mode was warn: their containers start whatever the proof finds`,
    recreateText(inWarnMode),
  );
}

export function checkResources(facts: Facts): CheckResult | undefined {
  if (facts.limits === undefined) return undefined;
  const { resources } = knownPolicy(facts.configuration).proof;
  known(facts.namespaces);
  const limits = known(facts.limits) ?? [];
  const names = new Set(optedIn(facts).map(({ name }) => name));
  const ours = limits.filter(({ metadata: { namespace = '' } }) => names.has(namespace));
  const texts = ours.flatMap((limit) => misfits(limit, resources));
  const hint = 'Set proof.resources in the configuration to values that fit';
  if (texts.length > 0) return failed('CNI_GATE_RESOURCES', fewTexts(texts), hint);
  return passed(ours.length === 0 ? 'opted-in namespaces have none' : `accepted by all ${ours.length}`);
}

/**
 * Why the API server refuses a pod whose containers have these requests and limits. Source: Kubernetes,
 * `plugin/pkg/admission/limitranger`, `PodValidateLimitFunc`. A quota counts a pod's largest init container.
 */
function misfits({ kind, metadata, spec = {} }: LimitFacts, { requests, limits }: ProofResources): string[] {
  const { limits: ranges = [], hard = {} } = spec;
  const object = `namespace ${metadata.namespace}, ${kind} ${metadata.name}`;
  return (Object.keys(limits) as (keyof typeof limits)[]).flatMap((name) => {
    const [request, limit] = [quantity(requests[name]), quantity(limits[name])];
    const [requested, limited] = [`requests.${name} ${requests[name]}`, `limits.${name} ${limits[name]}`];
    const unless = (
      fits: (amount: number) => boolean,
      field: string,
      value: string | undefined,
      ours: string,
    ): string[] =>
      value === undefined || fits(quantity(value)) ? [] : [`${object}: ${field} is ${value}, ${ours}`];
    const least = (amount: number) => (allowed: number) => allowed >= amount;
    return [
      ...ranges.flatMap(({ type, min, max, maxLimitRequestRatio: ratio }) =>
        type === 'Container'
          ? [
              ...unless((amount) => amount <= request, `min.${name}`, min?.[name], requested),
              ...unless(least(limit), `max.${name}`, max?.[name], limited),
              ...unless(
                least(limit / request),
                `maxLimitRequestRatio.${name}`,
                ratio?.[name],
                `${limited} and ${requested}`,
              ),
            ]
          : [],
      ),
      ...unless(least(request), name, hard[name], requested),
      ...unless(least(request), `requests.${name}`, hard[`requests.${name}`], requested),
      ...unless(least(limit), `limits.${name}`, hard[`limits.${name}`], limited),
    ];
  });
}

/** Before an installation: whether the caller may create all objects of the manifests. */
export function checkInstallRights({ rights }: Facts): CheckResult {
  const { missing = [] } = rights ?? {};
  if (missing.length === 0) return passed('you may create everything that the manifests contain');
  const hint = 'Ask a user with the ClusterRole cluster-admin to install, or to give you these rights';
  return failed('CNI_GATE_RIGHTS', `you may not ${few(missing, 3)}`, hint);
}

/** Before an installation: whether the cluster has no object of cni-gate. */
export function checkAbsence(facts: Facts): CheckResult {
  const presence = checkPresence(facts);
  if (presence.result === 'failed') return passed('the cluster has no object of cni-gate');
  if (presence.result !== 'passed') return { ...presence, essential: false };
  return warning('cni-gate is installed already', 'Run "cni-gate check" without --pre');
}

/** The networks of the cluster: the profiles of which at least one DaemonSet exists. */
export const networkFits = (facts: Facts) =>
  missingOf(facts).flatMap(({ profile, missing, isAbsent }) =>
    isAbsent ? [] : [{ profile, complete: missing.length === 0, missing }],
  );

/** The profile without a DaemonSet, for clusters where no profile with a DaemonSet applies to every pod. */
const withoutDaemonSet = 'pod-network';

/** The profiles whose DaemonSets all exist; if none of them applies to every pod, also the one without DaemonSet. */
function proposedProfiles(facts: Facts): { complete: string[]; more: string[] } {
  const { profiles } = facts.configuration.policy;
  const complete = networkFits(facts).flatMap((network) => (network.complete ? network.profile : []));
  const isForEveryPod = (name: string): boolean =>
    [profiles.get(name)?.when ?? []].flat().some((condition) => Object.keys(condition).length === 0);
  const isKnown = facts.daemonSets.found !== undefined && !complete.some(isForEveryPod);
  return { complete, more: isKnown && profiles.has(withoutDaemonSet) ? [withoutDaemonSet] : [] };
}

/** Before an installation: whether the cluster has a network that a profile describes. */
export function checkNetworks(facts: Facts): CheckResult {
  known(facts.daemonSets);
  const { complete, more } = proposedProfiles(facts);
  const partial = networkFits(facts).filter((network) => !network.complete);
  const what = [
    ...(complete.length > 0 ? [`profiles that fit: ${few(complete, 10)}`] : []),
    ...(complete.length + more.length > 0 ? [] : ['no built-in or configured profile fits']),
    ...more.map((name) => `no profile knows the DaemonSet of the pod network: ${name} fits every network`),
    ...partial.map(({ profile, missing }) => `${profile} lacks ${few(missing)}`),
  ].join('; ');
  const hint = 'To wait for its DaemonSet too, write a profile that names it, and give it with --config';
  return complete.length === 0 ? warning(what, hint) : passed(what);
}

/**
 * Before an installation: proposes a label value with all profiles that fit, because each profile itself selects its
 * pods. Empty if no profile fits.
 */
export function proposalsOf(facts: Facts) {
  const { complete, more } = proposedProfiles(facts);
  const profile = [...complete, ...more].toSorted().join('.');
  if (profile === '') return [];
  const combined = combinedOf(facts.configuration.policy, profile);
  const problem = combined instanceof CniGateError ? combined.message : '';
  const command = problem === '' ? `kubectl label namespace NAMESPACE ${profileLabel}=${profile}` : '';
  return [{ profile, command, problem }];
}
