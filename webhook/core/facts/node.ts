import { quoted } from '../../lib/clean.ts';
import { listItems, nameCharacters } from '../../lib/limits.ts';
import type { DaemonTemplate } from '../scheduling/daemon.ts';
import { type Amounts, amountsOf } from '../scheduling/requests.ts';
import type { ApiDaemonSet, ApiNode, ApiPod, ContainerStatus, Taint } from './api.ts';
import { conditionOf, timeOf } from './verdict.ts';

/** The kept facts of a Node, for readiness and for steering. */
export interface NodeFacts {
  name: string;
  uid: string;
  /** `metadata.resourceVersion`. */
  version: string;
  /** `status.nodeInfo.bootID`: another one after each boot. */
  bootID: string;
  /** Milliseconds since the epoch, as all times here. */
  createdAt: number;
  labels: Record<string, string>;
  taints: Taint[];
  /** Cordoned: `spec.unschedulable`. */
  unschedulable: boolean;
  allocatable: Amounts;
}

/** The kept facts of a DaemonSet that provides a network. */
export interface DaemonSetFacts {
  uid: string;
  namespace: string;
  name: string;
  template: DaemonTemplate;
}

/** The kept facts of a pod of such a DaemonSet. */
export interface AgentFacts {
  uid: string;
  namespace: string;
  name: string;
  version: string;
  /** Its node; empty before it is bound. */
  node: string;
  /** UID of its DaemonSet. */
  owner: string;
  createdAt: number;
  /** Whether it is being deleted or has ended. */
  leaving: boolean;
  ready: boolean;
  /** The last transition of the Ready condition. */
  readySince: number | undefined;
  /** Ids of the current or last containers, without init containers: each start has a new id. */
  containers: string[];
  /** When the latest of those that run started, by the node's clock; undefined if none shows it. */
  startedAt?: number | undefined;
  /** The containers that are not ready, and why, as text. Empty if all are ready. */
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
  const { nodeSelector, affinity, tolerations, hostNetwork, nodeName } = spec.template.spec;
  return {
    uid: metadata.uid,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    template: {
      nodeSelector: nodeSelector ?? {},
      affinity: { nodeAffinity: affinity?.nodeAffinity ?? null },
      tolerations: tolerations ?? [],
      hostNetwork: hostNetwork === true,
      ...(nodeName && { nodeName }),
    },
  };
}

/** What readiness keeps of a pod of a DaemonSet. Texts that others write are cut. */
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

/** A container that is not ready, with the kubelet's reason: the same text at each evaluation. */
function lackOf({ name, ready, state }: ContainerStatus): string[] {
  if (ready) return [];
  const reason = state?.waiting?.reason ?? state?.terminated?.reason;
  // an init container that completed is not ready, and not a fault
  if (reason === 'Completed') return [];
  return [reason === undefined || reason === '' ? name : `${name} (${reason})`];
}
