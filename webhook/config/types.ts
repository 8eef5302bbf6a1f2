import type { Check } from '../../validator/contract.ts';

/** How a label or annotation is looked at: a value it must have, or one of these. */
export type Matcher = string | { in: string[] } | { notIn: string[] } | { exists: boolean };

/** What must be true of a pod for a profile to promise it anything. All that are given must hold. */
export interface Condition {
  /** A container or init container of this name is there. */
  container?: string;
  /** No container or init container of this name is there. */
  noContainer?: string;
  labels?: Record<string, Matcher>;
  annotations?: Record<string, Matcher>;
  namespaceLabels?: Record<string, Matcher>;
}

export interface DaemonSetRef {
  namespace: string;
  name: string;
}

/** A validator of the network's own, run in place of ours: exit code 0 is a proof, any other is none. */
export interface ProofContainer {
  /** Its image, or the name of the pod's container whose image it takes: one of the two. */
  image?: string;
  imageOf?: string;
  /** Absent: the image's entrypoint. */
  command?: string[];
  args?: string[];
  /** The user id that it must run as. */
  asUser?: number;
  /** A user id that it must not run as. */
  notAsUser?: number;
}

export interface ProfileProof {
  checks: Check[];
  /**
   * Where a pod shows which families its proxy listens on: a variable of a container, with addresses and ports
   * separated by commas. The redirect is proved for those only. Absent: for all that the pod has.
   */
  families?: { container: string; env: string };
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

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** `enforce` refuses what cannot be proved; `warn` tells and lets the pod start. */
export type ProofMode = 'enforce' | 'warn';

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
  /** Path of a reference to the workload whose template is used where the object has none. */
  reference?: string;
}

/** The configuration file after defaults. Durations are text such as `90s`; see `duration.ts`. */
export interface Configuration {
  apiVersion: 'cni-gate.io/v1alpha1';
  kind: 'Configuration';
  proof: ProofSettings;
  gate: { mode: 'enforce' | 'audit'; startupGrace: string; maxHold: string };
  steer: { mode: 'nominate' | 'off' };
  repair: { mode: 'delete' | 'off'; perNodePerMinute: number };
  /** Built-in profiles and the file's own, which replace built-in ones of the same name. */
  profiles: Profile[];
  /** Built-in kinds and the file's own, which replace built-in ones of the same kind. */
  review: { kinds: TemplateKind[] };
}
