import type { ApiDaemonSet, ApiNode, ApiPod } from '../../core/facts/api.ts';
import { annotationsOf, type NamespaceFacts } from '../../core/facts/namespace.ts';
import {
  type AgentFacts,
  type DaemonSetFacts,
  type NodeFacts,
  toAgentFacts,
  toDaemonSetFacts,
  toNodeFacts,
} from '../../core/facts/node.ts';
import { type PendingPod, toPendingPod, weightOfKind } from '../../core/facts/pending-pod.ts';
import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import { evidencePick } from '../../core/facts/to-pod-evidence.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { type DaemonSetRef, placesOf } from '../../core/profiles/types.ts';
import { evidencePods, namespaces, nodes, pendingPods, trustedObjectBytes } from '../../lib/limits.ts';
import { nameOf, profileLabel } from '../../lib/names.ts';
import { apiPath } from '../api-path.ts';
import type { ApiObject, Source } from '../informer/object.ts';

/** Estimates the memory of a value, in bytes. The 160 bytes of an entry were measured and rounded up. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let total = 0;
  for (const [key, part] of Object.entries(value)) total += 160 + key.length + weightOf(part);
  return total;
}

/** The memory of a pod's evidence without its texts, in bytes: measured, and rounded up. */
const ofEvidence = 704;

/** Of a pod's requirements, only the part above this many bytes counts: ordinary requirements are smaller. */
const ofRequired = 2048;

/** The memory of a pod's evidence, in bytes, without texts that it shares with other pods. */
const weightOfEvidence = ({ name, addresses, required }: PodEvidence): number =>
  ofEvidence +
  2 * name.length +
  addresses.reduce((total, { length }) => total + 32 + length, 0) +
  (required === undefined ? 0 : Math.max(0, weightOfKind(required.kind) - ofRequired));

export interface OptedIn {
  has(namespace: string): boolean;
  /** Calls `changed` after namespaces opted in or out: their existing pods must be listed, as no event reports them. */
  subscribe(changed: () => void): void;
}

/** Any value of the label counts, as for the namespaceSelector of the webhooks. */
export const isOptedIn = (facts: NamespaceFacts | undefined): facts is NamespaceFacts =>
  facts !== undefined && Object.hasOwn(facts.labels, profileLabel);

/**
 * Only namespaces with the profile label, because the number of others is not limited. If a namespace loses the label,
 * the watch reports it as deleted.
 */
export const namespaceSource: Source<ApiObject, NamespaceFacts> = {
  resource: 'namespaces',
  path: '/api/v1/namespaces',
  query: { labelSelector: profileLabel },
  pick: ({ metadata }) => ({ labels: metadata.labels ?? {}, ...annotationsOf(metadata.annotations) }),
  retention: { ...namespaces, weigh: weightOf },
};

/** All nodes. A Node cannot become large, because the kubelet writes most of it. */
export const nodeSource: Source<ApiNode, NodeFacts> = {
  resource: 'nodes',
  path: '/api/v1/nodes',
  pick: toNodeFacts,
  retention: { ...nodes, weigh: weightOf },
};

export interface DaemonSetSnapshot {
  facts: DaemonSetFacts;
  /** The labels of its pods, for a query. */
  selector: string;
}

/** One DaemonSet that a profile names. Others are not listed, because tenants may create many large ones. */
const daemonSetSource = ({ namespace, name }: DaemonSetRef): Source<ApiDaemonSet, DaemonSetSnapshot> => ({
  resource: `daemonset ${namespace}/${name}`,
  path: apiPath`/apis/apps/v1/namespaces/${namespace}/daemonsets`,
  query: { fieldSelector: `metadata.name=${name}` },
  pick: (object) => ({
    facts: toDaemonSetFacts(object),
    // without `matchExpressions`, the query may also find pods of other owners, which cni-gate ignores
    selector: Object.entries(object.spec.selector?.matchLabels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
  }),
});

/** The DaemonSets that profiles name, by `namespace/name`. */
export function daemonSetSources({
  profiles,
}: Pick<Policy, 'profiles'>): Map<string, Source<ApiDaemonSet, DaemonSetSnapshot>> {
  const named = [...profiles.values()].flatMap(({ daemonSets }) => daemonSets.flatMap(placesOf));
  return new Map(named.map((daemonSet) => [nameOf(daemonSet), daemonSetSource(daemonSet)]));
}

/** The pods of DaemonSets, by `namespace/name` of the DaemonSet. Selectors may match pods of other owners too. */
export function agentSources(
  daemonSets: Iterable<DaemonSetSnapshot>,
  policy: Policy,
): Map<string, Source<ApiPod, AgentFacts>> {
  const sources = new Map<string, Source<ApiPod, AgentFacts>>();
  for (const { facts, selector: labelSelector } of daemonSets) {
    const key = nameOf(facts);
    if (!policy.daemonSets.has(key)) continue;
    sources.set(key, {
      resource: `pods of daemonset ${key}`,
      path: podsPath(facts.namespace),
      query: { labelSelector },
      maxObject: trustedObjectBytes,
      pick: toAgentFacts,
    });
  }
  return sources;
}

export const podsPath = (namespace: string): string => apiPath`/api/v1/namespaces/${namespace}/pods`;

/**
 * Pods with the profile label that wait for a node. Any user can set the label, so cni-gate reads only pods of
 * namespaces that opted in, and keeps a limited number of pods.
 * @param optedIn the namespaces that opted in; all namespaces by default
 */
export const pendingSource = (optedIn?: Pick<OptedIn, 'has'>): Source<ApiPod, PendingPod> => ({
  resource: 'unscheduled pods',
  path: '/api/v1/pods',
  query: { labelSelector: profileLabel, fieldSelector: 'spec.nodeName=' },
  ...(optedIn && { wants: ({ namespace = '' }) => optedIn.has(namespace) }),
  pick: toPendingPod,
  retention: { max: pendingPods.max, weigh: ({ weight }) => weight },
});

/**
 * Pods with the profile label that are on nodes, in namespaces that opted in.
 * @param optedIn the namespaces that opted in; all namespaces by default
 */
export const evidenceSource = (optedIn?: Pick<OptedIn, 'has'>): Source<ApiPod, PodEvidence> => ({
  resource: 'pods on nodes',
  path: '/api/v1/pods',
  query: { labelSelector: profileLabel, fieldSelector: 'spec.nodeName!=' },
  ...(optedIn && { wants: ({ namespace = '' }) => optedIn.has(namespace) }),
  pick: evidencePick(),
  retention: { max: evidencePods.max, weigh: weightOfEvidence },
});
