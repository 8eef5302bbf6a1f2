import type { Policy } from '../../core/profiles/policy.ts';
import type { DaemonSetRef, ProofResources } from '../../core/profiles/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { quantity } from '../../lib/quantity.ts';
import { combinedOf } from '../observe/configuration.ts';
import type { Facts, LimitFacts } from '../observe/observe.ts';
import { rightText } from '../observe/rights.ts';
import {
  type CheckResult,
  counted,
  failed,
  few,
  fewTexts,
  judged,
  notKnown,
  passed,
  recreateText,
  skipped,
  warning,
} from './check-result.ts';
import { checkPresence, isGone } from './installation.ts';

/** By code units, so that the order is the same everywhere. */
export const compare = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** The namespaces that opted in, by name; none where they may not be read. */
export const optedIn = ({ namespaces }: Pick<Facts, 'namespaces'>): { name: string; profile: string }[] =>
  (namespaces.found ?? [])
    .flatMap(({ name, profile }) => (profile === undefined ? [] : [{ name, profile }]))
    .toSorted((left, right) => compare(left.name, right.name));

/**
 * The profiles that the labels of namespaces and pods ask for. A wrong label of a pod is no fault: the pod was refused,
 * or the configuration has changed since.
 */
export function profilesInUse(facts: Facts): Set<string> {
  const ofPods = (facts.pods?.found ?? []).flatMap(({ profile }) => profile ?? []);
  const labels = new Set([...optedIn(facts).map(({ profile }) => profile), ...ofPods]);
  const combined = Array.from(labels, (label) => combinedOf(facts.configuration.policy, label));
  return new Set(
    combined.flatMap((used) => (used instanceof CniGateError ? [] : used.profiles.map(({ name }) => name))),
  );
}

/** What depends on a configuration that cannot be read. */
export const unknownConfiguration = notKnown({ why: 'the configuration is not known' });

/** Whether every label names profiles that exist. */
export function checkLabels(facts: Facts): CheckResult {
  const { configuration, namespaces } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const labelled = optedIn(facts);
  const wrong = [...Map.groupBy(labelled, ({ profile }) => profile)].flatMap(([profile, same]) => {
    const error = combinedOf(configuration.policy, profile);
    if (!(error instanceof CniGateError)) return [];
    const names = few(same.map(({ name }) => name));
    return [{ code: error.code, text: `namespace${same.length > 1 ? 's' : ''} ${names}: ${error.message}` }];
  });
  const hint = 'Label it again: kubectl label --overwrite namespace NAME cni-gate.io/profile=PROFILE';
  return judged(
    namespaces,
    () => {
      const [first] = wrong;
      const texts = wrong.map(({ text }) => text);
      if (first) return failed(first.code, fewTexts(texts), hint);
      return labelled.length === 0
        ? skipped('no namespace has opted in', 'Label one, and "check --pre" proposes profiles')
        : passed(`${counted(labelled.length, 'namespace')} opted in`);
    },
    true,
  );
}

const keyOf = ({ namespace, name }: DaemonSetRef): string => `${namespace}/${name}`;

/** Whether the DaemonSets of the profiles in use exist. */
export function checkDaemonSets(facts: Facts): CheckResult {
  const { configuration, namespaces, daemonSets } = facts;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const used = profilesInUse(facts);
  return judged(namespaces, () =>
    judged(daemonSets, (found = []) => {
      if (used.size === 0) return skipped('no profile is in use');
      const existing = new Set(found.map(keyOf));
      const missing = [...configuration.policy.profiles.values()].flatMap(({ name, daemonSets: wanted }) =>
        wanted
          .map(keyOf)
          .flatMap((key) => (used.has(name) && !existing.has(key) ? [{ key, profile: name }] : [])),
      );
      if (missing.length === 0) return passed(`those of ${few([...used].toSorted())} exist`);
      const texts = Array.from(
        Map.groupBy(missing, ({ key }) => key),
        ([key, same]) => {
          const profiles = same.map(({ profile }) => profile).join(', ');
          return `DaemonSet ${key} of profile ${profiles} does not exist: nothing is held back for it`;
        },
      );
      const hint =
        'Compare "kubectl get daemonsets -A" with the profile, and correct the profile or the label of the namespace';
      return failed('CNI_GATE_DAEMONSET_UNKNOWN', fewTexts(texts), hint);
    }),
  );
}

/**
 * Whether `network-status` lists every network of Multus. Otherwise a pod passes, with a note, without its interface.
 * Undefined if no profile in use checks interfaces, or Multus is not installed.
 */
export function checkAttachments(facts: Facts): CheckResult | undefined {
  const { attachments } = facts;
  const { profiles } = facts.configuration.policy;
  const areChecked = [...profilesInUse(facts)].some((name) =>
    profiles.get(name)?.proof.checks.some((check) => 'interfaces' in check),
  );
  if (!areChecked || !(attachments?.found || attachments?.unknown)) return undefined;
  return judged(attachments, (found = []) => {
    const old = found.filter(({ isListed }) => !isListed).map(({ name }) => name);
    if (old.length === 0) return passed(`it lists all ${found.length}`);
    return warning(
      `${few(old)}: without a cniVersion of 0.3.0 or later, pods that lost this interface pass with a note`,
      'Set "cniVersion": "0.3.1" in the configuration of the NetworkAttachmentDefinition',
    );
  });
}

/**
 * Whether the pods of the namespaces that opted in prove as the configuration asks: a pod keeps the mode in which it was
 * created. Undefined without an installation, and where the configuration enforces nothing or is not known.
 */
export function checkProofMode(facts: Facts): CheckResult | undefined {
  const { pods = {} } = facts;
  const { policy, trouble } = facts.configuration;
  if (isGone(facts) || trouble !== undefined || policy.proof.mode === 'warn') return undefined;
  return judged(pods, (found = []) => {
    const inWarnMode = found.filter(({ warns }) => warns);
    if (inWarnMode.length === 0) return passed('no pod is in warn mode');
    return warning(
      `${counted(inWarnMode.length, 'pod')} in warn mode, created while proof.mode was warn: their containers start whatever the proof finds`,
      recreateText(inWarnMode),
    );
  });
}

/** Whether the LimitRanges and ResourceQuotas of opted-in namespaces accept the init container's resources. */
export function checkResources(facts: Facts): CheckResult | undefined {
  const { configuration, namespaces, limits } = facts;
  if (limits === undefined) return undefined;
  if (configuration.trouble !== undefined) return unknownConfiguration;
  const names = new Set(optedIn(facts).map(({ name }) => name));
  return judged(namespaces, () =>
    judged(limits, (all = []) => {
      const ours = all.filter(({ namespace = '' }) => names.has(namespace));
      const texts = ours.flatMap((limit) => misfits(limit, configuration.policy.proof.resources));
      const hint = 'Set proof.resources in the configuration to values that fit';
      if (texts.length > 0) return failed('CNI_GATE_RESOURCES', fewTexts(texts), hint);
      return passed(ours.length === 0 ? 'opted-in namespaces have none' : `accepted by all ${ours.length}`);
    }),
  );
}

/**
 * Why the API server refuses a pod whose containers have requests and limits. Source: Kubernetes,
 * `plugin/pkg/admission/limitranger`, `PodValidateLimitFunc`; of a quota, a pod uses what its largest init container asks.
 */
function misfits({ namespace, object, containers, hard }: LimitFacts, { requests, limits }: ProofResources) {
  const texts = (Object.keys(limits) as (keyof typeof limits)[]).flatMap((name) => {
    const [request, limit] = [quantity(requests[name]), quantity(limits[name])];
    const [requested, limited] = [`requests.${name} ${requests[name]}`, `limits.${name} ${limits[name]}`];
    const unless = (field: string, value = '', fits: (amount: number) => boolean, ours: string): string[] =>
      value === '' || fits(quantity(value)) ? [] : [`${field} is ${value}, ${ours}`];
    const mayRequest = (amount: number): boolean => amount >= request;
    const mayLimit = (amount: number): boolean => amount >= limit;
    const isRatio = (amount: number): boolean => amount >= limit / request;
    return [
      ...containers.flatMap(({ min, max, maxLimitRequestRatio: ratio }) => [
        ...unless(`min.${name}`, min?.[name], (amount) => amount <= request, requested),
        ...unless(`max.${name}`, max?.[name], mayLimit, limited),
        ...unless(`maxLimitRequestRatio.${name}`, ratio?.[name], isRatio, `${limited} and ${requested}`),
      ]),
      ...unless(name, hard[name], mayRequest, requested),
      ...unless(`requests.${name}`, hard[`requests.${name}`], mayRequest, requested),
      ...unless(`limits.${name}`, hard[`limits.${name}`], mayLimit, limited),
    ];
  });
  return texts.map((text) => `namespace ${namespace}, ${object}: ${text}`);
}

/** Before an installation: whether the caller may create what the manifests contain. */
export function checkInstallRights({ rights = [] }: Facts): CheckResult {
  const missing = rights.filter(({ allowed }) => !allowed).map(({ right }) => rightText(right));
  if (missing.length === 0) return passed('you may create everything that the manifests contain');
  const hint = 'Ask a user with the ClusterRole cluster-admin to install, or to give you these rights';
  return failed('CNI_GATE_RIGHTS', `you may not ${few(missing, 3)}`, hint);
}

/** Before an installation: whether nothing of cni-gate is there. */
export function checkAbsence(facts: Facts): CheckResult {
  const presence = checkPresence(facts);
  if (presence.result === 'failed') return passed('nothing of it is there');
  if (presence.result !== 'passed') return { ...presence, essential: false };
  return warning('cni-gate is installed already', 'Run "cni-gate check" without --pre');
}

/** A network that a profile describes, and of which some DaemonSet is in the cluster. */
export type NetworkFit = ReturnType<typeof networkFits>[number];

/** The networks of a cluster. A profile without DaemonSets describes none. */
export function networkFits({ configuration, daemonSets }: Facts) {
  const existing = new Set((daemonSets.found ?? []).map(keyOf));
  return [...configuration.policy.profiles.values()].flatMap(({ name: profile, daemonSets: wanted }) => {
    const missing = wanted.map(keyOf).filter((key) => !existing.has(key));
    return missing.length === wanted.length ? [] : [{ profile, complete: missing.length === 0, missing }];
  });
}

/** Before an installation: whether the cluster has a network that a profile describes. */
export const checkNetworks = (facts: Facts): CheckResult =>
  judged(facts.daemonSets, () => {
    const [complete = [], partial = []] = [true, false].map((wanted) =>
      networkFits(facts).filter((network) => network.complete === wanted),
    );
    const fitting = few(
      complete.map(({ profile }) => profile),
      10,
    );
    const what = [
      fitting === '' ? 'no built-in or configured profile fits' : `profiles that fit: ${fitting}`,
      ...partial.map(({ profile, missing }) => `${profile} lacks ${few(missing)}`),
    ].join('; ');
    const hint = 'Write a profile that names the DaemonSets of your network, and give it with --config';
    return fitting === '' ? warning(what, hint) : passed(what);
  });

/**
 * The profiles of complete networks as one label, which fits every namespace: each profile says to which pods it
 * applies. Networks of all pods come first, then those on top of them, such as meshes.
 */
export function proposalOf(policy: Policy, networks: readonly NetworkFit[]) {
  const isForSome = (name: string): boolean =>
    [policy.profiles.get(name)?.when ?? {}]
      .flat()
      .some(({ container, namespaceLabels }) => Boolean(container ?? namespaceLabels));
  const names = networks.flatMap(({ profile, complete }) => (complete ? profile : [])).toSorted();
  const profile = names.toSorted((left, right) => +isForSome(left) - +isForSome(right)).join('.');
  const combined = combinedOf(policy, profile);
  const problem = combined instanceof CniGateError ? combined.message : '';
  const command = problem === '' ? `kubectl label namespace NAMESPACE ${profileLabel}=${profile}` : '';
  return { profile, command, problem };
}
