/**
 * The parts of Kubernetes' objects that cni-gate reads from an API server, as JSON has them: what may be missing may be
 * null as well. A request of admission has a pod that nobody has stored yet (`pod.ts`).
 */
import type { Container, ObjectMeta } from './pod.ts';

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | null;
}

export interface ApiMeta extends Pick<ObjectMeta, 'annotations' | 'deletionTimestamp'> {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  labels?: Record<string, string>;
  ownerReferences?: OwnerReference[] | null;
  managedFields?: { subresource?: string; time?: string | null }[] | null;
}

export interface Requirement {
  key: string;
  operator: string;
  values?: string[] | null;
}

/** All its requirements must be met. An empty term matches no node. */
export interface NodeSelectorTerm {
  matchExpressions?: Requirement[] | null;
  /** Only `metadata.name`. */
  matchFields?: Requirement[] | null;
}

export interface LabelSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: Requirement[] | null;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

/** A toleration of a pod. An absent field matches everything. */
export type Toleration = Partial<Taint> & { operator?: string };

type PodTerms = { requiredDuringSchedulingIgnoredDuringExecution?: unknown[] | null } | null;

export type Quantities = Record<string, string | number> | null;

interface ContainerSpec extends Partial<Pick<Container, 'env' | 'restartPolicy'>> {
  name: string;
  resources?: { requests?: Quantities } | null;
  ports?: { hostPort?: number }[] | null;
}

export interface PodSpec {
  nodeName?: string | null;
  hostNetwork?: boolean | null;
  nodeSelector?: Record<string, string> | null;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms?: NodeSelectorTerm[] | null;
      } | null;
    } | null;
    podAffinity?: PodTerms;
    podAntiAffinity?: PodTerms;
  } | null;
  tolerations?: Toleration[] | null;
  topologySpreadConstraints?: { whenUnsatisfiable?: string }[] | null;
  containers?: ContainerSpec[] | null;
  initContainers?: ContainerSpec[] | null;
  overhead?: Quantities;
  /** Of the pod as a whole. They replace the sum of its containers. */
  resources?: { requests?: Quantities } | null;
  resourceClaims?: unknown[] | null;
  volumes?: { name?: string; persistentVolumeClaim?: unknown; ephemeral?: unknown }[] | null;
}

export interface Condition {
  type: string;
  status: string;
  message?: string;
  lastTransitionTime?: string | null;
}

export interface Terminated {
  exitCode: number;
  reason?: string | null;
  /** What the container wrote to its termination log. */
  message?: string | null;
  startedAt?: string | null;
  finishedAt?: string | null;
  containerID?: string | null;
}

export interface ContainerStatus {
  name: string;
  ready?: boolean;
  state?: {
    waiting?: { reason?: string | null } | null;
    running?: { startedAt?: string | null } | null;
    terminated?: Terminated | null;
  } | null;
  /** Whether its startup probe has passed; true as well if it runs without one (`prober_manager.go` of the kubelet). */
  started?: boolean | null;
  /** Of the container that runs or ran last: each start has a new one. */
  containerID?: string | null;
  /** Of the run before, if the container was started again. */
  lastState?: { terminated?: Terminated | null } | null;
}

export interface PodStatus {
  phase?: string;
  conditions?: Condition[] | null;
  initContainerStatuses?: ContainerStatus[] | null;
  containerStatuses?: ContainerStatus[] | null;
  podIPs?: { ip?: string }[] | null;
  nominatedNodeName?: string;
}

export interface ApiPod {
  metadata: ApiMeta;
  spec: PodSpec;
  status?: PodStatus;
}

export interface ApiNode {
  metadata: ApiMeta;
  spec?: { taints?: Taint[] | null; unschedulable?: boolean };
  status?: { nodeInfo?: { bootID?: string }; allocatable?: Record<string, string> };
}

export interface ApiDaemonSet {
  metadata: ApiMeta;
  spec: { selector?: LabelSelector; template: { spec: PodSpec } };
}
