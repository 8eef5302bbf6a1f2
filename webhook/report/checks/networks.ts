import type { Policy } from '../../config/policy.ts';
import type { DaemonSetRef } from '../../config/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import type { PreFacts } from '../facts/before-install.ts';
import { foundIn, unknownIn } from '../facts/observation.ts';
import { type Finding, few, judged, passed, warning } from './finding.ts';

/** What a cluster has of the network that a profile describes. */
export type Network = ReturnType<typeof networksOf>[number];

/** The profile that fits a namespace which has not opted in. */
export type Proposal = ReturnType<typeof proposal>;

/** The networks of a cluster of which some DaemonSet is there. A profile without DaemonSets describes none. */
export function networksOf({ profiles }: Policy, daemonSets: readonly DaemonSetRef[]) {
  const existing = new Set(daemonSets.map(keyOf));
  return [...profiles.values()].flatMap(({ name: profile, daemonSets: wanted }) => {
    const missing = wanted.map(keyOf).filter((key) => !existing.has(key));
    return missing.length === wanted.length ? [] : [{ profile, complete: missing.length === 0, missing }];
  });
}

const keyOf = ({ namespace, name }: DaemonSetRef): string => `${namespace}/${name}`;

/**
 * The profiles that fit namespaces, each with a command of its own: of the networks that are complete, those that apply
 * to a pod of the namespace. Namespaces of Kubernetes, of the networks and of cni-gate get none, and `default` gets one
 * only if it is the only namespace: one command for it would opt in whatever is there.
 */
export function proposalsFor(
  { policy, namespaces, used, ownNamespace }: PreFacts,
  networks: readonly Network[],
): Proposal[] {
  const complete = new Set(networks.flatMap((network) => (network.complete ? network.profile : [])));
  const ofNetworks = new Set(
    [...policy.profiles.values()].flatMap(({ name, daemonSets }) =>
      complete.has(name) ? daemonSets.map(({ namespace }) => namespace) : [],
    ),
  );
  const proposals = (foundIn(namespaces) ?? []).flatMap(({ name, profile }) => {
    const isLeftOut = name === ownNamespace || ofNetworks.has(name) || /^kube-/.test(name);
    const names = [...(foundIn(used)?.get(name) ?? [])].filter((one) => complete.has(one));
    return profile !== undefined || isLeftOut || names.length === 0 ? [] : proposal(policy, name, names);
  });
  return proposals.length > 1 ? proposals.filter(({ namespace }) => namespace !== 'default') : proposals;
}

/** The label has networks of all pods first, then those on top of them, such as meshes. */
function proposal(policy: Policy, namespace: string, names: readonly string[]) {
  const isForAll = (name: string): boolean => {
    const when = policy.profiles.get(name)?.when ?? {};
    return ![when].flat().some((one) => one.container ?? one.namespaceLabels);
  };
  const sorted = names.toSorted();
  const profile = [...sorted.filter(isForAll), ...sorted.filter((name) => !isForAll(name))].join('.');
  const problem = problemOf(policy, profile);
  const command = problem === '' ? `kubectl label namespace ${namespace} ${profileLabel}=${profile}` : '';
  return { namespace, profile, command, problem };
}

/** Why profiles cannot be joined; empty where they can. */
function problemOf(policy: Policy, profile: string): string {
  try {
    policy.combineProfiles(profile);
    return '';
  } catch (error) {
    if (error instanceof CniGateError) return error.message;
    throw error;
  }
}

/** Whether the cluster has a network that a profile describes. */
export const checkNetworks = (facts: PreFacts, networks: readonly Network[]): Finding =>
  judged(facts.daemonSets, () => {
    const complete = networks.filter((network) => network.complete).map(({ profile }) => profile);
    const unread = unknownIn(facts.namespaces) ?? unknownIn(facts.used);
    const what = [
      complete.length > 0
        ? `profiles that fit: ${few(complete, 10)}`
        : 'no built-in or configured profile fits',
      ...networks
        .filter((network) => !network.complete)
        .map(({ profile, missing }) => `${profile} lacks ${few(missing)}`),
      ...(unread === undefined ? [] : [`no profile is proposed, as ${unread.why}`]),
    ].join('; ');
    if (complete.length > 0) return passed(what);
    const hint = 'Write a profile that names the DaemonSets of your network, and give it with --config';
    return warning(what, hint);
  });
