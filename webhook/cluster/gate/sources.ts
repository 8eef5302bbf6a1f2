import type { Policy } from '../../config/policy.ts';
import { profileLabel } from '../../names.ts';
import type { AgentFacts, DaemonSetFacts, NodeFacts } from '../../readiness/facts.ts';
import {
  type ApiDaemonSet,
  type ApiNode,
  type ApiPod,
  pickAgent,
  pickDaemonSet,
  pickNode,
} from '../../readiness/pick.ts';
import type { LabelSelector } from '../../scheduling/label-selector.ts';
import { type ApiWaitingPod, pickWaiting, type WaitingPod } from '../../steer/waiting.ts';
import { apiPath } from '../api-path.ts';
import type { Source } from '../reflector/list-all.ts';
import { selectorText } from './selector.ts';

export const nodeSource: Source<ApiNode, NodeFacts> = {
  resource: 'nodes',
  path: '/api/v1/nodes',
  pick: pickNode,
};

/** A DaemonSet, and the query that selects its pods. */
export interface WatchedDaemonSet {
  facts: DaemonSetFacts;
  selector: string | undefined;
}

type SelectingDaemonSet = ApiDaemonSet & { spec: { selector?: LabelSelector } };

/** All of them: there are few in a cluster, and a profile may name any. */
export const daemonSetSource: Source<SelectingDaemonSet, WatchedDaemonSet> = {
  resource: 'daemonsets',
  path: '/apis/apps/v1/daemonsets',
  pick: (object) => ({ facts: pickDaemonSet(object), selector: selectorText(object.spec.selector ?? {}) }),
};

/** The pods that a DaemonSet's selector finds; others may be among them, and are told apart by their owner. */
export function agentSource(
  { namespace, name }: { namespace: string; name: string },
  labelSelector: string,
): Source<ApiPod, AgentFacts> {
  return {
    resource: `pods of daemonset ${namespace}/${name}`,
    path: podsPath(namespace),
    query: { labelSelector },
    pick: pickAgent,
  };
}

/** The pods of those DaemonSets that profiles name, by `namespace/name`. */
export function agentSources(
  daemonSets: Iterable<WatchedDaemonSet>,
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

export const podsPath = (namespace: string): string => apiPath`/api/v1/namespaces/${namespace}/pods`;

/** Pods that carry our label and wait for a node. One that gets a node is told of as deleted. */
export const pendingSource: Source<ApiWaitingPod, WaitingPod> = {
  resource: 'unscheduled pods',
  path: '/api/v1/pods',
  query: { labelSelector: profileLabel, fieldSelector: 'spec.nodeName=' },
  // anybody who may make pods may set the label, and an object may have a megabyte and a half
  pageSize: 20,
  pick: pickWaiting,
};
