import { allMatch, applies } from '../../admission/mutate/profile-selection.ts';
import type { Pod } from '../../admission/pod.ts';
import type { Policy } from '../../config/policy.ts';
import type { Condition, DaemonSetRef, Profile } from '../../config/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { type Mesh, type MeshNamespace, meshes } from '../../review/mesh/meshes.ts';
import type { NamespaceBrief } from './model.ts';

/** What a cluster has of the network that a profile describes. */
export interface Network {
  profile: string;
  /** Whether all of it is there, so that the profile can be used as it is. */
  complete: boolean;
  /** DaemonSets that the profile names and the cluster lacks, `namespace/name`. */
  missing: string[];
  /** DaemonSets of the same name in other namespaces. */
  elsewhere: string[];
  /** Whether the mesh's injector is missing, without which no pod gets the proxy that the profile asks for. */
  injectorMissing: boolean;
}

/** The profile that fits a namespace which has not opted in. */
export interface Proposal {
  namespace: string;
  /** The label's value: one profile, or several joined by dots. */
  profile: string;
  /** The command that labels it; empty where the profiles cannot be joined. */
  command: string;
  /** Why the profiles cannot be joined; empty where they can. */
  problem: string;
}

/**
 * The names of the injectors' webhooks. Sources: linkerd2, `charts/linkerd-control-plane/templates/proxy-injector-rbac.yaml`;
 * istio, `manifests/charts/istio-control/istio-discovery/templates/mutatingwebhook.yaml`.
 */
const injectors: Record<string, RegExp> = {
  linkerd: /^linkerd-proxy-injector\.linkerd\.io$/,
  istio: /(?:^|\.)sidecar-injector\.istio\.io$/,
};

const conditionsOf = ({ when }: Profile): Condition[] => (Array.isArray(when) ? when : [when]);

/** The mesh whose injector adds the container that a condition asks for. */
const meshOf = ({ container }: Condition): Mesh | undefined =>
  meshes.find(({ containerPrefix }) => container?.startsWith(containerPrefix));

const plainPod: Pod = { metadata: {}, spec: { containers: [] } };

/** Profiles that apply to every pod of a namespace: to a plain one, or to one that the namespace's mesh injects into. */
export function fittingProfiles({ profiles }: Pick<Policy, 'profiles'>, namespace: MeshNamespace): string[] {
  const { labels } = namespace;
  const isInjected = (condition: Condition): boolean =>
    allMatch(condition.namespaceLabels, labels) && meshOf(condition)?.asks(plainPod, namespace) === true;
  return [...profiles.values()]
    .filter((profile) => applies(profile, plainPod, labels) || conditionsOf(profile).some(isInjected))
    .map(({ name }) => name);
}

/** What is known of a cluster's networks. */
export interface NetworkFacts {
  policy: Policy;
  daemonSets: readonly DaemonSetRef[];
  /** Names of all mutating webhooks; undefined where they may not be listed. */
  webhooks: readonly string[] | undefined;
}

/** The networks of a cluster of which something is there. A profile without DaemonSets describes none. */
export function networksOf({ policy, daemonSets, webhooks }: NetworkFacts): Network[] {
  return [...policy.profiles.values()].flatMap((profile): Network[] => {
    if (profile.daemonSets.length === 0) return [];
    const exists = (wanted: DaemonSetRef): boolean =>
      daemonSets.some(({ namespace, name }) => namespace === wanted.namespace && name === wanted.name);
    const missing = profile.daemonSets.filter((wanted) => !exists(wanted));
    const elsewhere = daemonSets.filter(({ name }) => missing.some((wanted) => wanted.name === name));
    const mesh = conditionsOf(profile).flatMap((condition) => meshOf(condition) ?? [])[0];
    const pattern = mesh && injectors[mesh.name];
    const injector = pattern && webhooks?.some((name) => pattern.test(name));
    const injectorMissing = injector === false;
    const isSeen = missing.length < profile.daemonSets.length || elsewhere.length > 0 || injector === true;
    if (!isSeen) return [];
    return [
      {
        profile: profile.name,
        complete: missing.length === 0 && !injectorMissing,
        missing: missing.map(keyOf),
        elsewhere: elsewhere.map(keyOf),
        injectorMissing,
      },
    ];
  });
}

const keyOf = ({ namespace, name }: DaemonSetRef): string => `${namespace}/${name}`;

/** What is proposed, and which namespaces get nothing. */
export interface Proposals {
  proposals: Proposal[];
  /** Namespaces without a pod that a complete network's profile applies to. */
  unused: string[];
  /** Whether namespace `default` gets none because others do: one command for it would opt in whatever is there. */
  defaultLeftOut: boolean;
}

/**
 * The profiles that fit namespaces, each with a command of its own: of the networks that are complete, those that the
 * namespace's pods use. Namespaces of Kubernetes, of the networks and of cni-gate get none, and `default` gets one only
 * if it is the only namespace.
 *
 * @param ownNamespace of cni-gate
 */
export function proposalsFor(
  policy: Policy,
  networks: readonly Network[],
  namespaces: readonly NamespaceBrief[],
  ownNamespace: string,
): Proposals {
  const complete = new Set(networks.filter((network) => network.complete).map(({ profile }) => profile));
  const ofNetworks = new Set(
    [...policy.profiles.values()].flatMap(({ name, daemonSets }) =>
      complete.has(name) ? daemonSets.map(({ namespace }) => namespace) : [],
    ),
  );
  const isAsked = ({ name, profile }: NamespaceBrief): boolean =>
    profile === undefined && name !== ownNamespace && !ofNetworks.has(name) && !/^kube-/.test(name);
  const asked = complete.size === 0 ? [] : namespaces.filter(isAsked);
  const all = asked.map(({ name, fits }) => ({ name, names: fits.filter((one) => complete.has(one)) }));
  const used = all.filter(({ names }) => names.length > 0);
  const shown = used.length > 1 ? used.filter(({ name }) => name !== 'default') : used;
  return {
    proposals: shown.map(({ name, names }) => proposal(policy, name, joinOf(policy, names))),
    unused: all.flatMap(({ name, names }) => (names.length === 0 ? name : [])),
    defaultLeftOut: shown.length < used.length,
  };
}

/** The label's value: networks of all pods first, then the meshes on top of them. */
function joinOf({ profiles }: Policy, names: readonly string[]): string {
  const isMesh = (name: string): boolean => {
    const profile = profiles.get(name);
    return profile !== undefined && conditionsOf(profile).some((one) => one.container ?? one.namespaceLabels);
  };
  return [...names.filter((name) => !isMesh(name)).toSorted(), ...names.filter(isMesh).toSorted()].join('.');
}

function proposal(policy: Policy, namespace: string, profile: string): Proposal {
  const problem = problemOf(policy, profile);
  const command = problem === '' ? `kubectl label namespace ${namespace} ${profileLabel}=${profile}` : '';
  return { namespace, profile, command, problem };
}

function problemOf(policy: Policy, profile: string): string {
  try {
    policy.join(profile);
    return '';
  } catch (error) {
    if (error instanceof CniGateError) return error.message;
    throw error;
  }
}
