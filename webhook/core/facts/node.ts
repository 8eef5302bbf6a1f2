import { quoted } from '../../lib/clean.ts';
import { listItems, nameCharacters } from '../../lib/limits.ts';
import type { Taint } from '../scheduling/constraints.ts';
import type { DaemonTemplate } from '../scheduling/daemon.ts';
import { type Amounts, amountsOf } from '../scheduling/requests.ts';
import { type ContainerStatus, conditionOf, type ProofStatus, timeOf } from './verdict.ts';

/** The kept facts of a Node, for readiness and for steering. */
export interface NodeFacts {
  name: string;
  uid: string;
  /** `metadata.resourceVersion`. */
  version: string;
  /** `status.nodeInfo.bootID`: another one after each boot. */
  bootID: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  labels: Record<string, string>;
  taints: Taint[];
  /** Cordoned: `spec.unschedulable`. */
  unschedulable: boolean;
  /** Its allocatable resources. */
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
  /** The Ready condition. */
  ready: boolean;
  /** The last transition of that condition, milliseconds since the epoch; undefined if unknown. */
  readySince: number | undefined;
  /** Ids of the current or last containers, without init containers: each start has a new id. */
  containers: string[];
  /** When the latest of those that run started, by the node's clock; undefined if none shows it. */
  startedAt?: number | undefined;
  /** The containers that are not ready, and why, as text. Empty if all are ready. */
  reason: string;
}

interface Meta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  deletionTimestamp?: string | null;
  labels?: Record<string, string>;
  ownerReferences?: { uid: string; controller?: boolean | null }[] | null;
}

/** The parts of a Node that {@link toNodeFacts} reads, as in the API. */
export interface ApiNode {
  metadata: Meta;
  spec?: { taints?: Taint[] | null; unschedulable?: boolean };
  status?: { nodeInfo?: { bootID?: string }; allocatable?: Record<string, string> };
}

/** The parts of a DaemonSet that {@link toDaemonSetFacts} reads, as the API gives them. */
export interface ApiDaemonSet {
  metadata: Meta;
  spec: { template: { spec: DaemonTemplate } };
}

/** The status of a container, as the API gives it. */
interface AgentContainer extends Pick<ContainerStatus, 'name' | 'state'> {
  ready: boolean;
  containerID?: string;
}

/** The parts of a pod that {@link toAgentFacts} reads, as the API gives them. */
export interface ApiPod {
  metadata: Meta;
  spec: { nodeName?: string };
  status?: Pick<ProofStatus, 'phase' | 'conditions'> & {
    initContainerStatuses?: AgentContainer[] | null;
    containerStatuses?: AgentContainer[] | null;
  };
}

/** What readiness and steering keep of a node. */
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

/** What readiness keeps of a DaemonSet. */
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
function lackOf({ name, ready, state }: AgentContainer): string[] {
  if (ready) return [];
  const reason = state?.waiting?.reason ?? state?.terminated?.reason;
  // an init container that completed is not ready, and not a fault
  if (reason === 'Completed') return [];
  return [reason === undefined || reason === '' ? name : `${name} (${reason})`];
}
