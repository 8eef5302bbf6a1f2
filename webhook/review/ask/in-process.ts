import { decodePodRequest } from '../../admission/decode.ts';
import { exemption, isExemptNamespace } from '../../admission/mutate/exempt.ts';
import { mutate } from '../../admission/mutate/mutate.ts';
import { selectProfile } from '../../admission/mutate/profile-selection.ts';
import { FixedNamespaces } from '../../admission/namespaces.ts';
import type { PodRequest } from '../../admission/review.ts';
import type { Policy } from '../../config/policy.ts';
import { CniGateError } from '../../lib/errors.ts';
import { optOutValue, profileLabel } from '../../lib/names.ts';
import type { NamespaceObject } from '../input/namespace.ts';
import { asIfInjected, type MeshGap, meshGaps } from '../mesh/gaps.ts';
import type { Mesh } from '../mesh/meshes.ts';
import type { Admission } from './judge.ts';

/** Admission by the code of the server in this process. */
export interface InProcess {
  policy: Policy;
  /** The profile of every namespace, instead of its label. */
  profile?: string | undefined;
  /** The namespace of cni-gate, whose pods are exempt. */
  ownNamespace?: string | undefined;
}

/**
 * Admission without a server: calls the code of `/mutate` in this process.
 *
 * @param known the namespaces in the input
 */
export function inProcess(
  { policy, profile, ownNamespace }: InProcess,
  known: ReadonlyMap<string, NamespaceObject>,
): Admission {
  const labels = new Map([...known].map(([name, namespace]) => [name, namespace.labels]));
  const annotations = new Map([...known].map(([name, namespace]) => [name, namespace.annotations]));
  const namespaces = new FixedNamespaces(labels, profile, annotations);
  const withMeshes = policiesWithMeshes(policy);
  return {
    answer: async (body, meshes = []) =>
      (await mutate(body, { policy: withMeshes(meshes), namespaces, ownNamespace })).review,
    uncalled: (namespace) => {
      // the webhook configuration excludes them by name
      if (isExemptNamespace(namespace, ownNamespace)) return 'exempt-namespace';
      const facts = namespaces.facts(namespace);
      if (facts === undefined) return 'namespace-not-given';
      // the webhook configuration selects namespaces by this label
      return Object.hasOwn(facts.labels, profileLabel) ? undefined : 'not-opted-in';
    },
    meshGaps: (body) => {
      const request = decodePodRequest(body);
      const facts = namespaces.facts(request.namespace);
      return facts === undefined ? [] : gapsOf(request, policy, facts.labels, known.get(request.namespace));
    },
  };
}

function gapsOf(
  request: PodRequest,
  policy: Policy,
  labels: Record<string, string>,
  namespace: NamespaceObject | undefined,
): MeshGap[] {
  if (exemption(request, policy.daemonSets, undefined) !== undefined) return [];
  const profile = selectProfile(request.pod, labels, policy.proof.allowOptOut)?.profile;
  if (profile === undefined || profile === optOutValue) return [];
  try {
    const { profiles } = policy.join(profile);
    return meshGaps(request.pod, { labels, annotations: namespace?.annotations ?? {} }, profiles);
  } catch (error) {
    // the pod is refused for it
    if (error instanceof CniGateError) return [];
    throw error;
  }
}

/** Policies that assume that the injectors of some meshes have run; each is created once. */
function policiesWithMeshes(policy: Policy): (meshes: readonly Mesh[]) => Policy {
  const made = new Map<string, Policy>([['', policy]]);
  return (meshes) => {
    const key = meshes.map(({ name }) => name).join();
    const known =
      made.get(key) ??
      policy.withProfiles((profile) =>
        meshes.reduce((changed, mesh) => asIfInjected(changed, mesh), profile),
      );
    made.set(key, known);
    return known;
  };
}
