/**
 * The parts of Kubernetes objects that cni-gate reads from the API server, in their JSON form. A field that may be
 * missing may also be null, whatever the library's types say. For pods in admission requests, see `pod.ts`.
 */
import type {
  V1NodeSelectorTerm as NodeSelectorTerm,
  V1OwnerReference as OwnerReference,
  V1NodeSelectorRequirement as Requirement,
  V1Taint as Taint,
  V1Toleration as Toleration,
} from '@kubernetes/client-node';
import type { Container, ObjectMeta } from './pod.ts';

export type { NodeSelectorTerm, OwnerReference, Requirement, Taint, Toleration };

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
