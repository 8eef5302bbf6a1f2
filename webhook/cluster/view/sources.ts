import type { Policy } from '../../config/policy.ts';
import type { DaemonSetRef } from '../../config/types.ts';
import { type ApiPendingPod, type PendingPod, toPendingPod } from '../../leader/nominate/pending-pod.ts';
import { evidencePods, nodes, objectBytes, pendingPods } from '../../lib/limits.ts';
import { profileLabel } from '../../lib/names.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { type ApiEvidencePod, evidencePick } from '../../nodes/evidence/to-facts.ts';
import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../../nodes/readiness/facts.ts';
import {
  type ApiDaemonSet,
  type ApiNode,
  type ApiPod,
  toAgentFacts,
  toDaemonSetFacts,
  toNodeFacts,
} from '../../nodes/readiness/to-facts.ts';
import { type LabelSelector, selectorText } from '../../nodes/scheduling/label-selector.ts';
import { apiPath } from '../api-path.ts';
import type { Source } from '../informer/object.ts';
import type { OptedIn } from './watch-namespaces.ts';
import { weightOfEvidence, weightOfNode } from './weights.ts';

/** All nodes. They are bounded: a kubelet writes the status of its node and most of its labels. */
export const nodeSource: Source<ApiNode, NodeFacts> = {
  resource: 'nodes',
  path: '/api/v1/nodes',
  objectBytes: objectBytes.node,
  pick: toNodeFacts,
  fits: (node) => weightOfNode(node) <= nodes.bytes,
  retention: { max: nodes.max, weigh: weightOfNode },
};

/** A DaemonSet, and the label selector of its pods. */
export interface DaemonSetSnapshot {
  facts: DaemonSetFacts;
  selector: string | undefined;
}

/** A DaemonSet as the API gives it, with its selector. */
export type SelectingDaemonSet = ApiDaemonSet & { spec: { selector?: LabelSelector } };

/** One DaemonSet. cni-gate does not list others: any tenant may create many and large ones. */
const daemonSetSource = ({
  namespace,
  name,
}: DaemonSetRef): Source<SelectingDaemonSet, DaemonSetSnapshot> => ({
  resource: `daemonset ${namespace}/${name}`,
  path: apiPath`/apis/apps/v1/namespaces/${namespace}/daemonsets`,
  query: { fieldSelector: `metadata.name=${name}` },
  objectBytes: objectBytes.daemonSet,
  pick: (object) => ({ facts: toDaemonSetFacts(object), selector: selectorText(object.spec.selector ?? {}) }),
});

/** The DaemonSets that profiles name, by `namespace/name`. */
export function daemonSetSources({
  profiles,
}: Pick<Policy, 'profiles'>): Map<string, Source<SelectingDaemonSet, DaemonSetSnapshot>> {
  const named = [...profiles.values()].flatMap(({ daemonSets }) => daemonSets);
  return new Map(named.map((one) => [`${one.namespace}/${one.name}`, daemonSetSource(one)]));
}

/** The pods that the selector of a DaemonSet finds. Their owner tells its own pods from others. */
export function agentSource(
  { namespace, name }: { namespace: string; name: string },
  labelSelector: string,
): Source<ApiPod, AgentFacts> {
  return {
    resource: `pods of daemonset ${namespace}/${name}`,
    path: podsPath(namespace),
    query: { labelSelector },
    pick: toAgentFacts,
  };
}

/** The pods of those DaemonSets that profiles name, by `namespace/name`. */
export function agentSources(
  daemonSets: Iterable<DaemonSetSnapshot>,
  policy: Policy,
): Map<string, Source<ApiPod, AgentFacts>> {
  const sources = new Map<string, Source<ApiPod, AgentFacts>>();
  for (const { facts, selector } of daemonSets) {
    const key = `${facts.namespace}/${facts.name}`;
    if (selector === undefined || !policy.daemonSets.has(key)) continue;
    sources.set(key, agentSource(facts, selector));
  }
  return sources;
}

/** Path of the pods of a namespace. */
export const podsPath = (namespace: string): string => apiPath`/api/v1/namespaces/${namespace}/pods`;

/**
 * Pods that carry the profile label and wait for a node. A watch reports a pod that gets a node as deleted. Any user who
 * can create pods can set the label. So cni-gate reads only pods of namespaces that opted in, and keeps a bounded number.
 *
 * @param optedIn the namespaces; all of them where nothing is given
 */
export const pendingSource = (optedIn?: Pick<OptedIn, 'has'>): Source<ApiPendingPod, PendingPod> => ({
  resource: 'unscheduled pods',
  path: '/api/v1/pods',
  query: { labelSelector: profileLabel, fieldSelector: 'spec.nodeName=' },
  // an object may have 1.5 MB, and the API server keeps a whole page in memory
  pageSize: 20,
  objectBytes: objectBytes.pendingPod,
  ...(optedIn && { wants: ({ namespace = '' }) => optedIn.has(namespace) }),
  pick: toPendingPod,
  retention: { max: pendingPods.max, weigh: ({ weight }) => weight },
});

/**
 * Pods on nodes that carry the profile label, of namespaces that opted in.
 *
 * @param optedIn the namespaces; all of them where nothing is given
 */
export const evidenceSource = (optedIn?: Pick<OptedIn, 'has'>): Source<ApiEvidencePod, PodEvidence> => ({
  resource: 'pods on nodes',
  path: '/api/v1/pods',
  query: { labelSelector: profileLabel, fieldSelector: 'spec.nodeName!=' },
  pageSize: evidencePods.pageSize,
  objectBytes: objectBytes.evidencePod,
  ...(optedIn && { wants: ({ namespace = '' }) => optedIn.has(namespace) }),
  pick: evidencePick(),
  retention: { max: evidencePods.max, weigh: weightOfEvidence },
});
