import type { DaemonTemplate } from '../scheduling/daemon.ts';
import type { Amounts } from '../scheduling/requests.ts';
import type { Taint } from '../scheduling/taints.ts';

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
