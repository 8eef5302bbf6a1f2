/**
 * The parts of Kubernetes' objects that cni-gate reads from an API server, as JSON has them: what may be missing may be
 * null as well. A request of admission has a {@link Pod} that nobody has stored yet.
 */
import type { Container, ObjectMeta } from './pod.ts';

/** An owner of an object. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | null;
}

/** The metadata of a stored object. */
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

/** A requirement on a label or a field. */
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

/** A label selector. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: Requirement[] | null;
}

/** A taint of a node. */
export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

/** A toleration of a pod. An absent field matches everything. */
export type Toleration = Partial<Taint> & { operator?: string };

/** Terms of affinity to pods. Only the scheduler can judge them. */
type PodTerms = { requiredDuringSchedulingIgnoredDuringExecution?: unknown[] | null } | null;

/** Quantities by resource. */
export type Quantities = Record<string, string | number> | null;

/** A container of a spec. */
interface ContainerSpec extends Partial<Pick<Container, 'env' | 'restartPolicy'>> {
  name: string;
  resources?: { requests?: Quantities } | null;
  ports?: { hostPort?: number }[] | null;
}

/** The spec of a pod, or of a DaemonSet's template. */
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

/** A condition of a pod. */
export interface Condition {
  type: string;
  status: string;
  message?: string;
  lastTransitionTime?: string | null;
}

/** How a container ended. */
export interface Terminated {
  exitCode: number;
  reason?: string | null;
  /** What the container wrote to its termination log. */
  message?: string | null;
  startedAt?: string | null;
  finishedAt?: string | null;
  containerID?: string | null;
}

/** The status of a container. */
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

/** The status of a pod. */
export interface PodStatus {
  phase?: string;
  conditions?: Condition[] | null;
  initContainerStatuses?: ContainerStatus[] | null;
  containerStatuses?: ContainerStatus[] | null;
  podIPs?: { ip?: string }[] | null;
  nominatedNodeName?: string;
}

/** A Pod that the API server stored. */
export interface ApiPod {
  metadata: ApiMeta;
  spec: PodSpec;
  status?: PodStatus;
}

/** A Node. */
export interface ApiNode {
  metadata: ApiMeta;
  spec?: { taints?: Taint[] | null; unschedulable?: boolean };
  status?: { nodeInfo?: { bootID?: string }; allocatable?: Record<string, string> };
}

/** A DaemonSet. */
export interface ApiDaemonSet {
  metadata: ApiMeta;
  spec: { selector?: LabelSelector; template: { spec: PodSpec } };
}
