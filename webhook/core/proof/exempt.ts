import { isObject } from '../../lib/json.ts';
import { own } from '../../lib/maps.ts';
import { foreign, nameOf } from '../../lib/names.ts';
import type { Pod } from '../facts/pod.ts';

/** Why a pod is exempt. The audit annotation and the metric's label have the same value. */
export type Exemption =
  | 'operation'
  | 'mirror-pod'
  | 'exempt-namespace'
  | 'host-network'
  | 'windows'
  | 'network-daemonset'
  | 'not-opted-in'
  | 'opted-out'
  | 'no-profile-applies';

/** A pod of a request, and what the request is. */
export interface AskedPod {
  pod: Pod;
  namespace: string;
  operation: string;
  subResource: string;
}

/** Kubernetes' own components: a webhook that delays them can prevent a cluster from recovering. */
const systemNamespaces = new Set(['kube-system']);

/**
 * Whether all pods of a namespace are exempt, whatever its labels are.
 *
 * @param ownNamespace the namespace of cni-gate
 */
export const isExemptNamespace = (namespace: string, ownNamespace: string | undefined): boolean =>
  systemNamespaces.has(namespace) || namespace === ownNamespace;

/**
 * Returns why this pod must not be changed, whatever its namespace and labels request.
 *
 * @param daemonSets `namespace/name` of the DaemonSets that provide networks: they must never wait for themselves
 * @param ownNamespace the namespace of cni-gate
 */
export function exemption(
  request: AskedPod,
  daemonSets: ReadonlySet<string>,
  ownNamespace: string | undefined,
): Exemption | undefined {
  const { pod, namespace } = request;
  if (request.operation !== 'CREATE' || request.subResource !== '') return 'operation';
  if (isMirrorPod(pod)) return 'mirror-pod';
  if (isExemptNamespace(namespace, ownNamespace)) return 'exempt-namespace';
  if (pod.spec.hostNetwork === true) return 'host-network';
  if (isWindows(pod)) return 'windows';
  const owner = pod.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner?.kind === 'DaemonSet' && daemonSets.has(nameOf({ namespace, name: owner.name })))
    return 'network-daemonset';
  return undefined;
}

/**
 * Whether a pod is the mirror of a static pod, which its kubelet runs in any case. A user who sets the annotation
 * gets a pod that no kubelet runs: docs/decisions/final-pod-policy.md#forged-exemptions.
 */
export const isMirrorPod = ({ metadata }: Pick<Pod, 'metadata'>): boolean =>
  own(metadata.annotations, foreign.mirrorPod) !== undefined;

/** Exemptions whose pods get no patch at all, not even one that removes an earlier injection. */
export function isUntouchable(reason: Exemption): boolean {
  return reason === 'operation' || reason === 'mirror-pod' || reason === 'exempt-namespace';
}

/** By `spec.os`, by node selector, or because every required node affinity term selects Windows. */
function isWindows({ spec }: Pod): boolean {
  if (spec.os?.name === 'windows') return true;
  if (foreign.osLabels.some((label) => own(spec.nodeSelector, label) === 'windows')) return true;
  const required = at(at(spec.affinity, 'nodeAffinity'), 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = listAt(required, 'nodeSelectorTerms');
  return terms.length > 0 && terms.every((term) => listAt(term, 'matchExpressions').some(selectsWindows));
}

function selectsWindows(requirement: unknown): boolean {
  const values = listAt(requirement, 'values');
  return (
    foreign.osLabels.some((label) => label === at(requirement, 'key')) &&
    at(requirement, 'operator') === 'In' &&
    values.length > 0 &&
    values.every((value) => value === 'windows')
  );
}

/** A field of a value that decoding did not look into. */
const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

function listAt(value: unknown, key: string): unknown[] {
  const found = at(value, key);
  return Array.isArray(found) ? found : [];
}
