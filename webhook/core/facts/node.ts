import { quoted } from '../../lib/clean.ts';
import { listItems, nameCharacters } from '../../lib/limits.ts';
import type { DaemonTemplate } from '../scheduling/daemon.ts';
import { type Amounts, amountsOf } from '../scheduling/requests.ts';
import type { ApiDaemonSet, ApiNode, ApiPod, ContainerStatus, Taint } from './api.ts';
import { conditionOf, timeOf } from './verdict.ts';

/** The facts kept about a Node, for the gate and for steering. */
export interface NodeFacts {
  name: string;
  uid: string;
  /** `metadata.resourceVersion`. */
  version: string;
  /** `status.nodeInfo.bootID`, which changes with each boot. */
  bootID: string;
  /** Milliseconds since the epoch, like all times in this file. */
  createdAt: number;
  labels: Record<string, string>;
  taints: Taint[];
  /** Cordoned: `spec.unschedulable`. */
  unschedulable: boolean;
  allocatable: Amounts;
}

/** The facts kept about a DaemonSet that provides a network. */
export interface DaemonSetFacts {
  uid: string;
  namespace: string;
  name: string;
  template: DaemonTemplate;
}

/** The facts kept about an agent, which is a pod of a DaemonSet that provides a network. */
export interface AgentFacts {
  uid: string;
  namespace: string;
  name: string;
  version: string;
  /** The name of the pod's node; empty before the pod is bound. */
  node: string;
  /** UID of the DaemonSet that controls the pod; empty without a controller. */
  owner: string;
  createdAt: number;
  /** Whether the pod is being deleted or has ended. */
  leaving: boolean;
  ready: boolean;
  /** When the condition Ready last changed. */
  readySince: number | undefined;
  /** Ids of the latest runs of the containers, except init containers. Each start gets a new id. */
  containers: string[];
  /** The latest start among running containers, by the node's clock; undefined if the status shows none. */
  startedAt?: number | undefined;
  /** Which containers are not ready and why, for messages; empty if all are ready. */
  reason: string;
}

export function toNodeFacts({ metadata, spec, status }: ApiNode): NodeFacts {
  return {
    name: metadata.name,
    uid: metadata.uid,
    version: metadata.resourceVersion,
    bootID: status?.nodeInfo?.bootID ?? '',
    createdAt: Date.parse(metadata.creationTimestamp),
    labels: metadata.labels ?? {},
    taints: (spec?.taints ?? []).map(({ key, value, effect }) => ({ key, value: value ?? '', effect })),
    unschedulable: spec?.unschedulable === true,
    allocatable: amountsOf(status?.allocatable),
  };
}

export function toDaemonSetFacts({ metadata, spec }: ApiDaemonSet): DaemonSetFacts {
  const { nodeSelector, affinity, tolerations, hostNetwork } = spec.template.spec;
  return {
    uid: metadata.uid,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    template: {
      nodeSelector: nodeSelector ?? {},
      affinity: { nodeAffinity: affinity?.nodeAffinity ?? null },
      tolerations: tolerations ?? [],
      hostNetwork: hostNetwork === true,
    },
  };
}

/** Returns the facts kept about a DaemonSet's pod. Texts that users can write are limited in length. */
export function toAgentFacts({ metadata, spec, status }: ApiPod): AgentFacts {
  const ready = conditionOf(status ?? {}, 'Ready');
  const phase = status?.phase ?? '';
  const containers = status?.containerStatuses ?? [];
  const started = containers
    .flatMap(({ state }) => timeOf(state?.running?.startedAt) ?? [])
    .reduce((latest, at) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  const all = [...(status?.initContainerStatuses ?? []), ...containers];
  return {
    uid: metadata.uid,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    version: metadata.resourceVersion,
    node: spec.nodeName ?? '',
    owner: metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid ?? '',
    createdAt: Date.parse(metadata.creationTimestamp),
    leaving: timeOf(metadata.deletionTimestamp) !== undefined || ['Failed', 'Succeeded'].includes(phase),
    ready: ready?.status === 'True',
    readySince: timeOf(ready?.lastTransitionTime),
    containers: containers
      .flatMap(({ containerID }) => (containerID ? [containerID] : []))
      .filter((id) => id.length <= nameCharacters)
      .slice(0, listItems),
    ...(started > Number.NEGATIVE_INFINITY && { startedAt: started }),
    reason: quoted(all.flatMap(lackOf).join(', ')),
  };
}

/** The name of a container that is not ready, with the kubelet's reason; an empty list if the container is ready. */
function lackOf({ name, ready, state }: ContainerStatus): string[] {
  if (ready) return [];
  const reason = state?.waiting?.reason ?? state?.terminated?.reason;
  // a completed init container may be reported as not ready, but nothing is wrong with it
  if (reason === 'Completed') return [];
  return [reason === undefined || reason === '' ? name : `${name} (${reason})`];
}
