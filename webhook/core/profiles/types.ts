import type { Check, CheckName, RedirectCheck } from '../../../validator/shared/contract.ts';

/** A condition on a label, annotation or variable: a value, or these operators, which must all match. */
export type Matcher = string | { in?: string[]; notIn?: string[]; exists?: boolean };

/** The pods to which a profile applies. All fields must match. */
export interface Condition {
  /** A container or init container has this name. */
  container?: string;
  /** Its arguments begin with these. */
  args?: string[];
  /** Variables of its environment. One with `valueFrom` counts as absent. */
  env?: Record<string, Matcher>;
  /** No container or init container has this name. */
  noContainer?: string;
  labels?: Record<string, Matcher>;
  annotations?: Record<string, Matcher>;
  namespaceLabels?: Record<string, Matcher>;
}

/** A DaemonSet, by its name. */
export interface DaemonSetRef {
  namespace: string;
  name: string;
}

/**
 * Where a pod sets a user or group id. The first of these with a number other than 0 (root) counts: an annotation of
 * the pod, then of its namespace; the security context of the containers, in this order; that of the pod.
 */
export interface IdSource {
  annotation?: string;
  containers?: string[];
  /** The id if nothing else sets one. */
  default?: number;
}

/** A user or group id, or where to read it. */
export type Id = number | IdSource;

/** The user and group of a proof. */
export interface Identity {
  /**
   * The user id that it must run as. If it comes from containers, the group id does too; otherwise it is the same
   * number.
   */
  asUser?: number | (IdSource & { default: number });
  /** A user id that it must not run as. */
  notAsUser?: Id;
  /** A group id that it must not run as. */
  notAsGroup?: Id;
}

/** A redirect as a profile describes it: ids and families may depend on the pod. */
export type RedirectSettings = Identity & {
  /** An annotation of the pod or its namespace with ports that the rule leaves out. */
  skippedPorts?: string;
} & Omit<RedirectCheck, 'asUser' | 'asGroup' | 'notAsUser' | 'notAsGroup' | 'families'>;

/** A check as a profile describes it. */
export type CheckOfProfile =
  | Exclude<Check, { redirect: unknown } | { witness: unknown }>
  | { redirect: RedirectSettings };

/** The name of a check. The schema guarantees exactly one. */
export const checkNameOf = (check: CheckOfProfile): CheckName => Object.keys(check)[0] as CheckName;

/** A network's own validator, run instead of ours: exit code 0 is a proof, any other is a failure. */
export interface ProofContainer extends Identity {
  /** Its image, or the name of the pod's container whose image it uses: one of the two. */
  image?: string;
  imageOf?: string;
  /** Absent: the image's entrypoint. */
  command?: string[];
  args?: string[];
}

/**
 * Where a pod shows for which families its mesh writes rules: a variable of a container. `env` holds addresses and
 * ports that the proxy listens on, separated by commas. `dualStackEnv` is true if the mesh serves both families;
 * otherwise it serves the family of the first address that the kernel lists.
 */
export type FamiliesSource = { container: string } & ({ env: string } | { dualStackEnv: string });

/** Where a mesh redirects connections from outside, for the witness. */
export interface InboundRedirect {
  port: number;
  /** Annotations of the pod with ports that are not redirected, `4222,6000-6100`, or subnets or interfaces for which none is. */
  excludedBy?: string[];
  /** Annotations of a pod in which only the proxy can accept what is redirected: it has no witness. */
  transparent?: Record<string, Matcher>;
  /** An annotation of the pod with the only ports that are redirected; absent or `*`: all. */
  includedBy?: string;
}

/** How a profile is proved: by checks or by a container. */
export interface ProfileProof {
  checks: CheckOfProfile[];
  /** The redirect is checked for those families only. Absent: see `families` of the validator's contract. */
  families?: FamiliesSource;
  /** Instead of checks. */
  container?: ProofContainer;
  /** The pod is proved only when the kubelet has reached it, with all profiles that apply. */
  witness?: 'kubelet';
  inbound?: InboundRedirect;
}

/**
 * What the gate goes by: `ready`, that the pods of the DaemonSets are Ready; `proof`, that a proof has passed on the node
 * as well since they started.
 */
export type EvidenceMode = 'ready' | 'proof';

/** A network: the pods to which it applies, the DaemonSets that provide it, and its checks. */
export interface Profile {
  name: string;
  /** One condition, or several of which one must match. */
  when: Condition | Condition[];
  daemonSets: DaemonSetRef[];
  annotations: Record<string, string>;
  proof: ProfileProof;
  /** Instead of `gate.evidence`. */
  evidence?: EvidenceMode;
}

/** When the kubelet pulls an image. */
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** `enforce` refuses; `warn` reports and lets the pod start. */
export type ProofMode = 'enforce' | 'warn';

/** Amounts of each resource, as Kubernetes writes them. */
type Amounts = Record<'cpu' | 'memory' | 'ephemeral-storage', string | number>;

/** The init container's resources, where the other containers of its pod have some. */
export interface ProofResources {
  requests: Amounts;
  limits: Amounts;
}

/** The section `proof` of the configuration. */
export interface ProofSettings {
  mode: ProofMode;
  image: string;
  imagePullPolicy: PullPolicy;
  /** Names of Secrets in the pod's namespace. */
  imagePullSecrets: string[];
  resources: ProofResources;
  /** Whether a pod may opt out with the label `cni-gate.io/profile: none`. */
  allowOptOut: boolean;
}

/** A kind of another project whose objects contain pod templates. */
export interface TemplateKind {
  /** `group/version`, or `group/*` for every version. */
  apiVersion: string;
  kind: string;
  /** Field names joined by dots; `*` is each value of a map or list, `.` the object itself; `none`: no pod templates. */
  path: string;
  /** Whether the path ends in the spec of a Job. */
  job?: true;
}

/** A kind of controllers that recreate their pods. */
export type OwnerKind = Pick<TemplateKind, 'apiVersion' | 'kind'>;

/** The section `repair` of the configuration. */
export interface RepairSettings {
  /** `audit` reports the pods that `recreate` deletes. */
  mode: 'off' | 'audit' | 'recreate';
  /** Deletions in a minute: on one node, of one controller's pods, in the whole cluster. */
  perNodePerMinute: number;
  perOwnerPerMinute: number;
  perMinute: number;
  /** Besides ReplicaSet, ReplicationController, StatefulSet, DaemonSet and Job. */
  owners: OwnerKind[];
}

/** The configuration file after defaults. Durations are text such as `90s`; see `duration.ts`. */
export interface Configuration {
  apiVersion: 'cni-gate.io/v1alpha1';
  kind: 'Configuration';
  proof: ProofSettings;
  gate: { mode: 'enforce' | 'audit'; startupGrace: string; maxHold: string; evidence?: EvidenceMode };
  steer: { mode: 'nominate' | 'off' };
  repair: RepairSettings;
  /** Built-in profiles and the file's own, which replace built-in ones of the same name. */
  profiles: Profile[];
  /** Built-in kinds and the file's own, which replace built-in ones of the same kind. */
  review: { kinds: TemplateKind[] };
}
