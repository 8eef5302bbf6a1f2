import type { Status } from '../status/model.ts';

/** A list that may be long: the first rows, and how many there are. */
export interface Rows<T> {
  total: number;
  rows: T[];
}

/** A fault, and where to read what to do. */
export interface ExplainedFault {
  code: string;
  /** What is wrong, and what to do. */
  message: string;
  /** What the code means. */
  meaning: string;
  /** Address of the code's section in the documentation. */
  page: string;
}

/** A column of the matrix: a DaemonSet, or a profile that has none. */
export interface Network {
  /** `namespace/name` of the DaemonSet, or the profile. */
  name: string;
  /** The profiles that name the DaemonSet. */
  profiles: string[];
  inUse: boolean;
  /** Whether the DaemonSet exists; true for a profile that has none. */
  exists: boolean;
}

/**
 * The state of a network on a node: the state by its index in {@link Dashboard.states}, since when in seconds since the
 * epoch, the DaemonSet's pod there, and what is missing by its index in {@link Dashboard.texts}.
 */
export type Cell = [state: number, since: number | null, pod: string | null, why: number];

/** The pod that proved a profile on a node last, and when in seconds since the epoch. */
export type Proved = [profile: string, pod: string, at: number | null];

/** A row of the matrix. */
export interface NodeRow {
  name: string;
  /** Label `topology.kubernetes.io/zone`; empty where it has none. */
  zone: string;
  /** Its node group, by a label; empty where it has none. */
  group: string;
  /** One for each network; null where the network is not known on the node. */
  cells: (Cell | null)[];
  proved: Proved[];
}

/** The proofs that ended in one minute, which is minutes since the epoch. */
export type ProofMinute = [minute: number, passed: number, failed: number];

/** What repair said about a pod whose proof failed. */
export interface RepairStep {
  /** `namespace/name` */
  pod: string;
  node: string | null;
  /** When it was first seen, RFC 3339. */
  seen: string;
  /** The event of the leader. */
  note: string;
  /** Whether the pod is gone by now. */
  gone: boolean;
}

/** The part of a status that the page shows as it is. */
type Shown = Pick<
  Status,
  | 'verdict'
  | 'headline'
  | 'cluster'
  | 'configuration'
  | 'verbs'
  | 'installation'
  | 'notKnown'
  | 'namespace'
  | 'pods'
>;

/** All that the page shows, as JSON. Every text in it comes from the cluster and is not trusted. */
export interface Dashboard extends Shown {
  /** RFC 3339. */
  time: string;
  /** Why the data may be old; null where it is not. */
  stale: string | null;
  states: readonly string[];
  /** Texts that many cells share; the first is empty. */
  texts: string[];
  networks: Network[];
  nodes: NodeRow[];
  faults: ExplainedFault[];
  namespaces: Rows<Status['namespaces'][number]>;
  heldPods: Rows<Status['heldPods'][number]>;
  failedPods: Rows<Status['failedPods'][number]>;
  waitingPods: Rows<Status['waitingPods'][number]>;
  unprovedPods: Rows<Status['unprovedPods'][number]>;
  duplicateAddresses: Rows<Status['duplicateAddresses'][number]>;
  proofs: ProofMinute[];
  repairs: RepairStep[];
}
