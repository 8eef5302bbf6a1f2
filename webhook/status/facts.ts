import type { Policy } from '../config/policy.ts';
import type { PodEvidence } from '../evidence/facts.ts';
import type { Readiness } from '../readiness/readiness.ts';
import type { NodeUsage } from '../steer/node-usage.ts';
import type { PendingPod } from '../steer/pending-pod.ts';
import type { InstallationFacts } from './installation/facts.ts';
import type { WebhookRules } from './installation/webhook-rules.ts';
import type { ProofState, Unproved } from './proof.ts';

/** What status keeps of a namespace. */
export interface OptIn {
  name: string;
  /** What its label asks for; undefined where it did not opt in. */
  profile: string | undefined;
}

/** A pod that waits because the gate refused its node. */
export interface Hold {
  /** The node that it was refused for. */
  refused: string;
  /** What was not ready there at its last try, as the refusal says; empty where that is cut off. */
  why: string;
  /** Since when it waits for a node, milliseconds since the epoch; undefined where the pod does not say. */
  since: number | undefined;
  /** The node that it is to try next, `status.nominatedNodeName`; empty where there is none. */
  nominated: string;
  /** All of it that says where it could go. */
  pod: PendingPod;
}

/** That a node was named for a pod. */
export interface Nominated {
  node: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** What is asked for only where pods are held. */
export interface HeldPodFacts {
  /** What is taken of a node; undefined where that is not known. */
  usage?: (node: string) => NodeUsage | undefined;
  /** The last nomination of a pod, by its UID; undefined where there was none, or that is not known. */
  lastNomination?: (uid: string) => Nominated | undefined;
}

/** What status keeps of a pod in a namespace that opted in. */
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

/** A webhook that is registered. */
export interface RegisteredWebhook {
  name: string;
  /** Whether the API server has an authority to trust its server by. */
  trusted: boolean;
  /** The Service that it calls; absent where it calls a URL. */
  service?: { namespace: string; name: string; port: number };
  url?: string;
  /** PEM in base64, as the API gives it. */
  caBundle?: string;
  failurePolicy?: 'Fail' | 'Ignore';
  /** What it is called for. */
  rules: WebhookRules;
}

/** What is in our webhook configurations; undefined where that may not be read. */
export interface Registered {
  mutating: readonly RegisteredWebhook[] | undefined;
  validating: readonly RegisteredWebhook[] | undefined;
}

/** The cluster's version, for people, and whether its scheduler goes by nominations. */
export interface SchedulerFacts {
  version: string;
  goesByNominations: boolean;
}

/**
 * What refused to create an object:
 * - `rights`: RBAC;
 * - `policy`: a ValidatingAdmissionPolicy denied it;
 * - `policy-configuration`: a ValidatingAdmissionPolicy cannot be evaluated, for example without its parameters;
 * - `webhook`: a webhook denied it;
 * - `webhook-call`: the API server got no usable answer of a webhook;
 * - `webhook-trust`: the API server does not accept the certificate of a webhook's server;
 * - `silence`: the API server did not answer in time;
 * - `other`: another admission plugin, for example a quota.
 */
export interface RefusedBy {
  kind:
    | 'rights'
    | 'policy'
    | 'policy-configuration'
    | 'webhook'
    | 'webhook-call'
    | 'webhook-trust'
    | 'silence'
    | 'other';
  /** Name of the policy or webhook; empty for other kinds. */
  name: string;
}

/**
 * The answer of the API server about an invented pod:
 * - `injected`: the pod came back with our init container in the first place;
 * - `nothing-promised`: cni-gate answered, and its configuration promises nothing to such a pod;
 * - `failed`: cni-gate did not answer, was not asked, or the pod was refused by it or by its policy;
 * - `not-made`: nobody could be asked, or somebody else refused the pod.
 */
export interface ProbeFacts {
  /** Where the pod was to be created; null where no namespace could be asked about. */
  namespace: string | null;
  outcome: 'injected' | 'nothing-promised' | 'failed' | 'not-made';
  /** What was seen, in words: the API server's own where it refused. */
  what: string;
  /** Why it is no proof that new pods are admitted; absent where it is. */
  reason?: ProbeReason;
}

/**
 * Why a probe shows no pod with its proof: what refused it, or
 * - `not-called`: the pod came back without anything of cni-gate;
 * - `changed`: another webhook changed the pod, or the replicas have another configuration;
 * - `no-namespace`: no namespace to try it in.
 */
export type ProbeReason = RefusedBy['kind'] | 'not-called' | 'changed' | 'no-namespace';

/** The last event about a pod. */
export interface PodEvent {
  note: string;
  /** Whether the leader says that repair has stopped. */
  stopped: boolean;
  /** Whether the leader says what it would do with `repair.mode: audit`. */
  audited?: boolean;
}

/** A recreation that the leader told of. */
export interface RepairEvent {
  namespace: string;
  /** Of the pod. */
  name: string;
  /** Null where the note does not name it. */
  node: string | null;
  /** Milliseconds since the epoch. */
  at: number;
  note: string;
}

/** What is asked for only where pods wait for long or failed. */
export interface PodEventFacts {
  /**
   * What the kubelet last said about a pod without a sandbox, or the leader about one whose proof failed, by the pod's
   * UID; undefined where nobody said anything.
   */
  podEvent?: (uid: string) => PodEvent | undefined;
}

/** All that a status is made of. */
export interface StatusFacts extends HeldPodFacts, PodEventFacts {
  policy: Policy;
  readiness: Readiness;
  registered: Registered;
  installation: InstallationFacts;
  /** Absent where it was not asked for. */
  probe?: ProbeFacts;
  /** Undefined where it may not be asked. */
  scheduler: SchedulerFacts | undefined;
  namespaces: Iterable<OptIn>;
  /** Whether only one namespace was asked about, so that the pods of others are not known. */
  partial?: boolean;
  /** Pods of the namespaces that opted in. */
  pods: Iterable<PodFacts>;
}
