import type { Policy } from '../config/policy.ts';
import type { ErrorCode } from '../lib/errors.ts';
import type { DaemonSetFacts } from '../readiness/facts.ts';
import type { ClusterIdentity } from '../status/cluster-identity.ts';
import type { OptIn, ProbeFacts, Registered } from '../status/facts.ts';
import type { InstallationFacts, Observation } from '../status/installation/facts.ts';
import type { Right } from './rights.ts';

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

/** An API that a Service of the cluster serves, which the API server calls as it calls webhooks. */
export interface ServedApi {
  name: string;
  /** `namespace/name` of the Service. */
  service: string;
  available: boolean;
  /** Why it is not. */
  message: string;
}

/** What is read of a cluster in any case. */
export interface ClusterFacts {
  cluster: ClusterIdentity;
  version: Observation<VersionFacts>;
  /** For each group and version that cni-gate uses: the resources that the API server serves. */
  apis: ReadonlyMap<string, Observation<readonly string[]>>;
  nodes: Observation<readonly NodeBrief[]>;
  heartbeats: Observation<readonly Heartbeat[]>;
  /** The API server's clock minus ours, in milliseconds. */
  clockSkew: number;
}

/** A right, and whether the one who was asked about has it. */
export interface RightFacts {
  right: Right;
  allowed: boolean;
}

/** The configuration that the installation has. */
export interface ConfigurationFacts {
  /** The built-in one where that of the installation is not known. */
  policy: Policy;
  /** Where it is from, for people. */
  source: string;
  /** Why it is not that of the installation; absent where it is. */
  trouble?: { code: ErrorCode; message: string; right?: string };
}

/** What is read of an installation. */
export interface InstalledFacts extends ClusterFacts {
  configuration: ConfigurationFacts;
  registered: Registered;
  installation: InstallationFacts;
  /** Rights of the service account of the replicas. */
  serverRights: Observation<readonly RightFacts[]>;
  /** `namespace/name` of that account. */
  account: string;
  /** Namespaces that opted in. */
  namespaces: Observation<readonly OptIn[]>;
  /** The DaemonSets that profiles name and that exist. */
  daemonSets: Observation<readonly DaemonSetFacts[]>;
  /** Absent with `--no-probe`. */
  probe?: ProbeFacts | undefined;
}

/** What is kept of a namespace, to find its networks. */
export interface NamespaceBrief {
  name: string;
  /** What its label asks for; undefined where it did not opt in. */
  profile: string | undefined;
  /** Profiles that apply to a pod that it has and that is not exempt; none where its pods are not known. */
  fits: readonly string[];
}

/** What is read before an installation. */
export interface PreFacts extends ClusterFacts {
  policy: Policy;
  /** Where the configuration is from. */
  source: string;
  /** Whether anything of cni-gate is there; null where that is not known. */
  present: boolean | null;
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
