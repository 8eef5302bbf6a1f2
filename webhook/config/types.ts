import type { Check, CheckSettings, RedirectCheck } from '../../validator/shared/contract.ts';

/** How a label, an annotation or a variable is looked at: a value it must have, or these, all of which must hold. */
export type Matcher = string | { in?: string[]; notIn?: string[]; exists?: boolean };

/** What must be true of a pod for a profile to promise it anything. All fields must match. */
export interface Condition {
  /** A container or init container of this name is there. */
  container?: string;
  /** Its arguments begin with these. */
  args?: string[];
  /** Variables of its environment. One whose value comes from elsewhere (`valueFrom`) counts as absent. */
  env?: Record<string, Matcher>;
  /** No container or init container of this name is there. */
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
 * Where a pod says a user or group id: the first of these that says a number other than 0, which is root. An annotation
 * of the pod, else of its namespace; then the security context of the containers, in this order; then the pod's.
 */
export interface IdSource {
  annotation?: string;
  containers?: string[];
  /** Where nothing says a number. */
  default?: number;
}

/** A user or group id, or where to read it. */
export type Id = number | IdSource;

/** Whom a proof runs as. */
export interface Identity {
  /**
   * The user id that it must run as. Where it is read from containers, the group id is theirs as well; otherwise the
   * same number.
   */
  asUser?: number | (IdSource & { default: number });
  /** A user id that it must not run as. */
  notAsUser?: Id;
  /** A group id that it must not run as. */
  notAsGroup?: Id;
}

/** A redirect as a profile asks for it: ids and families may depend on the pod. */
export type RedirectSettings = Identity &
  Omit<RedirectCheck, 'asUser' | 'asGroup' | 'notAsUser' | 'notAsGroup' | 'families'>;

/** The settings of each word in a profile. */
export type ProfileSettings = Omit<CheckSettings, 'redirect'> & { redirect: RedirectSettings };

/** A check as a profile asks for it. */
export type CheckOfProfile = Exclude<Check, { redirect: unknown }> | { redirect: RedirectSettings };

/** A validator of the network's own, run in place of ours: exit code 0 is a proof, any other is none. */
export interface ProofContainer extends Identity {
  /** Its image, or the name of the pod's container whose image it takes: one of the two. */
  image?: string;
  imageOf?: string;
  /** Absent: the image's entrypoint. */
  command?: string[];
  args?: string[];
}

/**
 * Where a pod shows for which families its mesh writes rules: a variable of a container. `env` holds addresses and
 * ports that the proxy listens on, separated by commas. `dualStackEnv` is true where both families are served;
 * otherwise the mesh serves the family of the first address that the kernel lists.
 */
export type FamiliesSource = { container: string } & ({ env: string } | { dualStackEnv: string });

/** How a profile is proved: by checks or by a container. */
export interface ProfileProof {
  checks: CheckOfProfile[];
  /** The redirect is proved for those families only. Absent: see `families` of the validator's contract. */
  families?: FamiliesSource;
  /** In place of checks. */
  container?: ProofContainer;
}

/** A network: what it promises, to which pods, who brings it to the node, and how it is proved. */
export interface Profile {
  name: string;
  /** One condition, or several of which one has to hold. */
  when: Condition | Condition[];
  daemonSets: DaemonSetRef[];
  annotations: Record<string, string>;
  proof: ProfileProof;
}

/** When the kubelet pulls an image. */
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** `enforce` refuses what cannot be proved; `warn` tells and lets the pod start. */
export type ProofMode = 'enforce' | 'warn';

/** The section `proof` of the configuration. */
export interface ProofSettings {
  mode: ProofMode;
  image: string;
  imagePullPolicy: PullPolicy;
  /** Names of Secrets in the pod's namespace. */
  imagePullSecrets: string[];
  /** Whether a pod may leave the proof by the label `cni-gate.io/profile: none`. */
  allowOptOut: boolean;
}

/** A kind of another project whose objects hold pod templates. */
export interface TemplateKind {
  /** `group/version`, or `group/*` for every version. */
  apiVersion: string;
  kind: string;
  /** Field names joined by dots; `*` is each value of a map or list, `.` the object itself. */
  path: string;
  /** Path of a reference to the workload whose template is used if the object has none. */
  reference?: string;
}

/** The configuration file after defaults. Durations are text such as `90s`; see `duration.ts`. */
export interface Configuration {
  apiVersion: 'cni-gate.io/v1alpha1';
  kind: 'Configuration';
  proof: ProofSettings;
  gate: { mode: 'enforce' | 'audit'; startupGrace: string; maxHold: string };
  steer: { mode: 'nominate' | 'off' };
  /** Built-in profiles and the file's own, which replace built-in ones of the same name. */
  profiles: Profile[];
  /** Built-in kinds and the file's own, which replace built-in ones of the same kind. */
  review: { kinds: TemplateKind[] };
}
