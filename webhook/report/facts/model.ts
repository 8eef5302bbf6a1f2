import type { Policy } from '../../config/policy.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { DaemonSetFacts } from '../../nodes/readiness/facts.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import type { ClusterIdentity } from './cluster-identity.ts';
import type { FoundPolicy } from './configuration.ts';
import type { InstallationFacts, Registered } from './installation-model.ts';
import type { Right } from './needed-rights.ts';
import type { Observation } from './observation.ts';
import type { ProbeFacts } from './probe-model.ts';
import type { ProofState, Unproved } from './proof.ts';

/** What is read of a cluster and of an installation in any case. */
export interface Facts {
  cluster: ClusterIdentity;
  version: Observation<VersionFacts>;
  configuration: FoundPolicy;
  registered: Registered;
  installation: InstallationFacts;
  /** Namespaces that opted in, or the only one that was asked about. */
  namespaces: Observation<readonly OptIn[]>;
  /** The DaemonSets that profiles name and that exist. */
  daemonSets: Observation<readonly DaemonSetFacts[]>;
  /** Absent where it was not asked for. */
  probe?: ProbeFacts | undefined;
}

/** What an API server says of its version. */
export interface VersionFacts {
  major: number;
  minor: number;
  /** For people. */
  text: string;
  /** Whether its scheduler uses nominations of others. */
  usesNominations: boolean;
  /** The version from which on schedulers do, for people. */
  nominationsFrom: string;
}

/** What is kept of a namespace. */
export interface OptIn {
  name: string;
  /** What its label asks for; undefined where it did not opt in. */
  profile: string | undefined;
}

/** What a status is made of: also nodes and pods. */
export interface StatusFacts extends Facts {
  readiness: Readiness;
  /** The only namespace that was asked about, so that the pods of others are not known. */
  namespace: string | undefined;
  /** Pods of the namespaces that opted in. */
  pods: readonly PodFacts[];
  /**
   * By a pod's UID, the last event of the kubelet about a pod without a sandbox, or of the leader about one that is held
   * or whose proof failed.
   */
  events: ReadonlyMap<string, PodEvent>;
}

/** What is kept of a pod in a namespace that opted in. */
export interface PodFacts {
  namespace: string;
  name: string;
  /** Absent while it waits for one. */
  node?: string;
  /** The profile that its own label asks for, where that overrides the namespace's. */
  profile?: string;
  /** The state of its check. */
  proof: ProofState;
  held?: Hold;
  unproved?: Unproved;
  /** What its init container found out, and its addresses; absent where the pod has no node or does not carry our label. */
  evidence?: PodEvidence;
  /** What a check that did not pass saw, from the container's message; absent where that says nothing. */
  seen?: string;
}

/** A pod that waits because the gate refused its node. */
export interface Hold {
  uid: string;
  /** The node that it was refused for. */
  refused: string;
  /** What was not ready there at its last try, as the refusal says; empty where that is cut off. */
  why: string;
  /** Since when it waits for a node, milliseconds since the epoch; undefined where the pod does not say. */
  since: number | undefined;
  /** The node that it is to try next, `status.nominatedNodeName`; empty where no node is nominated. */
  nominated: string;
}

/** The last event about a pod. */
export interface PodEvent {
  /** Milliseconds since the epoch. */
  at: number;
  reason: string;
  note: string;
  /** Whether the leader says that repair has stopped. */
  stopped: boolean;
}

/** What a check of an installation is made of: also the cluster around it. */
export interface CheckFacts extends Facts, EnvironmentFacts {
  /** Rights of the service account of the replicas. */
  serverRights: Observation<readonly RightFacts[]>;
}

/** What is read of a cluster, installed or not. */
export interface EnvironmentFacts {
  version: Observation<VersionFacts>;
  /** For each group and version that cni-gate uses: the resources that the API server serves. */
  apis: ReadonlyMap<string, Observation<readonly string[]>>;
  nodes: Observation<readonly NodeBrief[]>;
  heartbeats: Observation<readonly Heartbeat[]>;
  /** The API server's clock minus ours, in milliseconds. */
  clockSkew: number;
}

/** What is kept of a node. */
export interface NodeBrief {
  name: string;
  ready: boolean;
  os: string;
  architecture: string;
}

/** When the kubelet of a node last renewed its Lease, by the node's clock. */
export interface Heartbeat {
  node: string;
  /** Milliseconds since the epoch, moved to our own clock. */
  renewed: number;
}

/** A right, and whether the one who was asked about has it. */
export interface RightFacts {
  right: Right;
  allowed: boolean;
}

/** What is read before an installation. */
export interface PreFacts extends EnvironmentFacts, Pick<Facts, 'registered' | 'installation' | 'cluster'> {
  policy: Policy;
  /** Where the configuration is from. */
  source: string;
  priorityClass: Observation<true>;
  /** Rights of the caller. */
  rights: readonly RightFacts[];
  /** Flags of each API server whose pod is visible. */
  apiServers: Observation<readonly (readonly string[])[]>;
  servedApis: Observation<readonly ServedApi[]>;
  /** DaemonSets that have the name of one that a profile names, in any namespace: a bounded number. */
  daemonSets: Observation<readonly { namespace: string; name: string }[]>;
  /** Names of all mutating webhooks. */
  webhooks: Observation<readonly string[]>;
  namespaces: Observation<readonly NamespaceBrief[]>;
  /** Why the pods of the namespaces are not known; undefined where they are. */
  podsUnread: string | undefined;
}

/** An API that a Service of the cluster serves, which the API server calls as it calls webhooks. */
export interface ServedApi {
  name: string;
  /** `namespace/name` of the Service. */
  service: string;
  available: boolean;
  /** Why it is not. */
  message: string;
}

/** What is kept of a namespace, to find its networks. */
export interface NamespaceBrief extends OptIn {
  /** Profiles that apply to a pod that it has and that is not exempt; none where its pods are not known. */
  fits: readonly string[];
}
