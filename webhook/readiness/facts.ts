import type { Amounts } from '../scheduling/amounts.ts';
import type { DaemonTemplate } from '../scheduling/daemon.ts';
import type { Taint } from '../scheduling/taints.ts';

/** What is kept of a Node: by readiness, and to find another one for a pod. */
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
  /** What it has for pods. */
  allocatable: Amounts;
}

/** What readiness keeps of a DaemonSet that brings a network. */
export interface DaemonSetFacts {
  uid: string;
  namespace: string;
  name: string;
  template: DaemonTemplate;
}

/** What readiness keeps of a pod of such a DaemonSet. */
export interface AgentFacts {
  uid: string;
  namespace: string;
  name: string;
  version: string;
  /** The node that it is bound to; empty before. */
  node: string;
  /** UID of the DaemonSet that controls it. */
  owner: string;
  createdAt: number;
  /** Whether it is on its way out: being deleted, or ended. */
  leaving: boolean;
  /** The Ready condition. */
  ready: boolean;
  /** When that condition became what it is, milliseconds since the epoch; undefined where it is not told. */
  readySince: number | undefined;
  /** Ids of the containers that run or last ran, but for init containers: each start of one has another id. */
  containers: string[];
  /** What it lacks, for people: the containers that are not ready, and why. Empty where they all are. */
  reason: string;
}
