/**
 * The parts of Kubernetes objects that cni-gate reads from the API server, in their JSON form. A field that may be
 * missing may also be null. The pod in an admission request, which is not stored yet, has its own types in `pod.ts`.
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

/** A node matches a term if it meets all requirements. An empty term matches no node. */
export interface NodeSelectorTerm {
  matchExpressions?: Requirement[] | null;
  /** Requirements for fields of the node; Kubernetes supports only `metadata.name`. */
  matchFields?: Requirement[] | null;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

/** A toleration of a pod. Without a `key` or an `effect`, a toleration matches every key or every effect. */
export type Toleration = Partial<Taint> & { operator?: string };

type PodTerms = { requiredDuringSchedulingIgnoredDuringExecution?: unknown[] | null } | null;

export type Quantities = Record<string, string | number> | null;

interface ContainerSpec extends Partial<Pick<Container, 'env' | 'restartPolicy'>> {
  name: string;
  resources?: { requests?: Quantities } | null;
  ports?: { hostPort?: number }[] | null;
  readinessProbe?: { periodSeconds?: number | null } | null;
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
  /** Resources of the pod as a whole. Its requests replace the sum of its containers' requests. */
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
  /** Whether the startup probe passed; also true if there is no probe (the kubelet's `prober_manager.go`). */
  started?: boolean | null;
  /** The id of the container's current or last run. Each start of the container gets a new id. */
  containerID?: string | null;
  /** The end of the previous run, if the container was restarted. */
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
  spec: { selector?: { matchLabels?: Record<string, string> | null }; template: { spec: PodSpec } };
}
