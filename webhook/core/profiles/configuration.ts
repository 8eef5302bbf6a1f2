// Generated from webhook/config/configuration.schema.json by `npm run generate`. Do not edit.

export type ConfigurationFile = {
  apiVersion: 'cni-gate.io/v1alpha1';
  kind: 'Configuration';
  proof: ProofSection;
  gate: GateSection;
  steer: SteerSettings;
  repair: RepairSettings;
  /** Networks. A profile with the name of a built-in profile replaces it. */
  profiles: Profile[];
  review: ReviewSettings;
};

/** The init container that proves a pod's network. */
export type ProofSection = {
  mode: ProofMode;
  /** Image of the validator. Default: the image of this release. Set it to your mirror in an air-gapped cluster. */
  image?: string;
  imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Names of Secrets in the pod's own namespace, added to the pod's list. */
  imagePullSecrets: string[];
  resources: ProofResources;
  /** Whether the label of a pod may leave out profiles of its namespace: by none, or by other profiles. */
  allowOptOut: boolean;
};

/** enforce: pods whose network cannot be proved are blocked. warn: cni-gate reports the failure, and the pod starts. */
export type ProofMode = 'enforce' | 'warn';

/** Resources of the init container, in pods whose containers have requests or limits. In a Guaranteed pod, the requests are the limits. */
export type ProofResources = {
  requests: Requests;
  limits: Limits;
};

export type Requests = {
  cpu: Quantity;
  memory: Quantity;
  'ephemeral-storage': Quantity;
};

/** as in a pod, such as 50m or 64Mi */
export type Quantity = string | number;

export type Limits = {
  cpu: Quantity;
  memory: Quantity;
  'ephemeral-storage': Quantity;
};

/** The refusal of bindings to nodes whose network is not ready. */
export type GateSection = {
  mode: 'enforce' | 'audit';
  startupGrace: string;
  maxHold: string;
  /** What the gate goes by: the Ready condition of the DaemonSets' pods, or also a proof that has passed on the node since they started. It replaces the setting of the built-in profiles; a profile of the file can set its own. Absent: proof for built-in profiles whose DaemonSets have no readiness probe, ready for all others. */
  evidence?: EvidenceMode;
};

/** ready: the pods of the DaemonSets are Ready. proof: a proof has also passed on the node since they started. */
export type EvidenceMode = 'ready' | 'proof';

/** The nomination of a ready node for refused pods. */
export type SteerSettings = {
  mode: 'nominate' | 'off';
};

/** The recreation of pods whose proof failed. */
export type RepairSettings = {
  /** audit: cni-gate reports the pods that it would delete. recreate: it deletes them, and their controllers recreate them. */
  mode: 'off' | 'audit' | 'recreate';
  /** Deletions on one node in a minute. */
  perNodePerMinute: number;
  /** Deletions of one controller's pods in a minute. */
  perOwnerPerMinute: number;
  /** Deletions in the whole cluster in a minute. */
  perMinute: number;
  /** Further kinds of controllers that recreate a deleted pod. ReplicaSet, ReplicationController, StatefulSet, DaemonSet and Job are known. */
  owners: OwnerKind[];
};

export type OwnerKind = {
  /** v1, or group/version or group/* of a custom resource, such as apps.kruise.io/v1beta1 */
  apiVersion: string;
  kind: string;
};

/** A network: the pods to which it applies, the DaemonSets that provide it, and its checks. */
export type Profile = {
  /** lower-case letters, digits and dashes, at most 63; 'none' is reserved */
  name: string;
  /** The pods to which the profile applies: a condition, or a list of which one must match. Absent: all pods. */
  when: Condition | Condition[];
  /** What the gate goes by for this profile, instead of gate.evidence. */
  evidence?: EvidenceMode;
  /** The DaemonSets that provide the network on a node. */
  daemonSets: DaemonSetRef[];
  /** Added to pods that lack the key; networks of Multus are merged. */
  annotations: Record<string, string>;
  /** Annotations that the network itself writes: no profile may set them. */
  reservedAnnotations?: string[];
  injector?: Injector;
  proof: ProfileProof;
};

/** All fields must match. */
export type Condition = {
  container?: string;
  args?: string[];
  env?: Record<string, Matcher>;
  noContainer?: string;
  labels?: Record<string, Matcher>;
  annotations?: Record<string, Matcher>;
  namespaceLabels?: Record<string, Matcher>;
};

/** a value, or some of {in: [...], notIn: [...], exists: true|false}, which must all match */
export type Matcher = string | MatcherOperators;

/** a value, or some of {in: [...], notIn: [...], exists: true|false}, which must all match */
export type MatcherOperators = {
  in?: string[];
  notIn?: string[];
  exists?: boolean;
};

export type DaemonSetRef = {
  namespace: string;
  name: string;
};

/** The injector of a mesh, for review: it runs in the cluster and not on manifests. */
export type Injector = {
  /** The command that injects into manifests, from standard input to standard output. */
  command: string;
  /** The container of its proxy. */
  proxy: string;
  /** The prefix of the names of all containers that it adds. */
  containerPrefix: string;
  /** The domain of the annotations that it writes. */
  domain: string;
  /** Whether it acts on a pod: the first rule that matches decides. It does not if none matches. */
  rules: InjectorRule[];
};

/** All matchers must match. */
export type InjectorRule = {
  injects: boolean;
  labels?: Record<string, Matcher>;
  annotations?: Record<string, Matcher>;
  namespaceLabels?: Record<string, Matcher>;
  namespaceAnnotations?: Record<string, Matcher>;
};

/** How the network is proved: by checks, or by a container. */
export type ProfileProof = {
  checks: CheckOfProfile[];
  families?: FamiliesSource;
  container?: ProofContainer;
  /** kubelet: the other containers start when the kubelet has connected to the pod from its node. */
  witness?: 'kubelet';
  inbound?: InboundRedirect;
};

/** exactly one of redirect, captured, interfaces, address, gateway, roundTrip, reach */
export type CheckOfProfile =
  | { redirect: RedirectSettings }
  | { captured: Captured }
  | { interfaces: Timed }
  | { address: Timed }
  | { gateway: Gateway }
  | { roundTrip: RoundTrip }
  | { reach: Reach };

/** Binds the proxy's port, connects to an address that does not answer, and expects its own token back. */
export type RedirectSettings = {
  direction: 'outbound' | 'inbound';
  listen: number;
  connect: string[];
  asUser?: Id;
  notAsUser?: Id;
  notAsGroup?: Id;
  /** An annotation of the pod or its namespace with ports that the rule leaves out, such as 25,1024-65535. */
  skippedPorts?: string;
  timeout: string;
};

/** never 0, which is root; or where the pod shows it: {annotation, containers, default} */
export type Id = number | IdSource;

/** never 0, which is root; or where the pod shows it: {annotation, containers, default} */
export type IdSource = {
  annotation?: string;
  /** containers or init containers, in order of preference */
  containers?: string[];
  default?: number;
};

/** The listeners of a node's proxy are in the pod's network namespace and receive outbound connections. */
export type Captured = {
  listeners: number[];
  /** The listener that receives outbound connections. */
  outbound: number;
  connect: string[];
  timeout: string;
};

export type Timed = {
  timeout: string;
};

export type Gateway = {
  /** A pod without a default route fails. */
  required?: true;
  timeout: string;
};

/** A datagram gets to the node, and its answer comes back. */
export type RoundTrip = {
  /** require: silence fails. prefer: silence passes with a note, because a network policy may be its cause. */
  mode: 'require' | 'prefer';
  timeout: string;
};

/** A TCP connect succeeds. A network policy can fail it on a healthy network, so no built-in profile uses it. */
export type Reach = {
  host: string;
  port: number;
  timeout: string;
};

/** a container and one of env (a variable with the addresses that the proxy listens on, address:port separated by commas) and dualStackEnv (a variable that is true if the mesh serves both families) */
export type FamiliesSource = {
  container: string;
  env?: string;
  dualStackEnv?: string;
};

/** The network's own validator, instead of cni-gate's and of checks: its exit code is the verdict. */
export type ProofContainer = {
  /** Its image. Use this or imageOf. */
  image?: string;
  /** The container of the pod whose image it uses, so that a node pulls no other. */
  imageOf?: string;
  command?: string[];
  args?: string[];
  asUser?: Id;
  notAsUser?: Id;
  notAsGroup?: Id;
};

/** Where the mesh redirects connections from outside: what the witness of a meshed pod has to show. */
export type InboundRedirect = {
  port: number;
  /** Annotations of pods with ports that are not redirected, or with subnets or interfaces. */
  excludedBy?: string[];
  /** Annotations of pods in which only the proxy can accept what is redirected: they have no witness. */
  transparent?: Record<string, Matcher>;
  /** An annotation of pods with the only ports that are redirected. */
  includedBy?: string;
  /** Ports that the mesh does not redirect in any pod, besides port. */
  neverRedirected?: number[];
};

/** Settings of the command review; the server ignores them. */
export type ReviewSettings = {
  kinds: TemplateKind[];
};

/** A kind of another project whose objects contain pod templates. */
export type TemplateKind = {
  apiVersion: string;
  kind: string;
  /** field names joined by dots, such as spec.template; * is each value of a map or list; . is the object itself; none if it has no pod templates */
  path: string;
  /** the object around the template is the spec of a Job, with backoffLimit and podFailurePolicy */
  job?: true;
};
