/** Something that was asked of the cluster: what it is, that it does not exist, or why that is not known. */
export type Observation<T> = { found: T } | 'absent' | { unknown: Unknown };

/** Why something is not known. */
export interface Unknown {
  why: string;
  /** Whether a right is missing. Otherwise nobody could read it from the cluster. */
  forbidden: boolean;
  /** That right, as RBAC names it; absent where the answer does not say. */
  right?: string;
}

/** A Service that our webhooks call, and who stands behind it. */
export interface ServiceFacts {
  namespace: string;
  name: string;
  /** The port that the webhooks call. */
  port: number;
  service: Observation<{ ports: readonly number[]; externalName: string | undefined }>;
  /**
   * Endpoints of its EndpointSlices: how many there are, how many of them have a TCP port for the Service's port, and
   * how many of those are ready.
   */
  endpoints: Observation<{ all: number; withPort: number; ready: number }>;
  /** The numbers of that TCP port; absent where no endpoint has it. */
  targetPorts?: readonly number[];
}

/** The Deployment of cni-gate. */
export interface DeploymentFacts {
  desired: number;
  ready: number;
  updated: number;
  /** The message of its condition `Progressing` where a rollout got stuck. */
  stuck: string | undefined;
  /** TCP ports on which its containers may answer calls; absent while not all replicas are of this template. */
  ports?: readonly number[];
  /** The tag of its image; absent for an image without one. */
  version?: string;
}

/** The certificate that the replicas serve, as it is in their Secret. */
export interface CertificateFacts {
  /** `namespace/name` of the Secret. */
  secret: string;
  /** Per webhook: why the API server does not accept this certificate; undefined where it does. */
  webhooks: readonly { name: string; fault: string | undefined }[];
}

/** The Lease of the replica that leads. */
export interface LeaseFacts {
  /** Empty where nobody holds it. */
  holder: string;
  /** Milliseconds since the epoch. */
  renewed: number | undefined;
  /** Milliseconds for which a renewal counts. */
  duration: number;
}

/** A ValidatingAdmissionPolicy of ours. */
export interface PolicyFacts {
  /** See `policyDigest`. */
  digest: string;
  /** See `conditionDigests`. */
  conditions: readonly string[];
  /** Whether it has a `paramKind`, as manifests from before the first release had: docs/reference/upstream-faults.md. */
  hasParams: boolean;
  /** What the API server does with an object for which the policy cannot be evaluated; absent: `Fail`. */
  failurePolicy?: 'Fail' | 'Ignore';
}

/** The binding of a policy. */
export interface BindingFacts {
  policyName: string;
  actions: readonly string[];
  /** Whether it has `matchResources` of its own, which take pods out of what the policy looks at. */
  narrowed: boolean;
}

/** One of the two policies of the manifests. */
export interface PolicyPair {
  name: string;
  policy: Observation<PolicyFacts>;
  binding: Observation<BindingFacts>;
}

/** All that admission depends on in a cluster, besides the webhook configurations. */
export interface InstallationFacts {
  /** Where the Deployment and the Lease are looked for. */
  namespace: string;
  /** Each Service that a webhook of ours calls; the Service of the manifests where no webhook is registered. */
  services: readonly ServiceFacts[];
  /** URLs of webhooks that call no Service. */
  urls: readonly string[];
  deployment: Observation<DeploymentFacts>;
  certificate: Observation<CertificateFacts>;
  policies: readonly PolicyPair[];
  lease: Observation<LeaseFacts>;
  /** What the API server does with a new pod while the webhook for pods does not answer; undefined: not known. */
  failurePolicy: 'Fail' | 'Ignore' | undefined;
  /** By namespace, the number of pods with the injected init container; asked for only where nothing is installed. */
  injected?: Observation<ReadonlyMap<string, number>>;
}

/** Of what was asked, what is there. */
export const foundIn = <T>(seen: Observation<T>): T | undefined =>
  typeof seen === 'object' && 'found' in seen ? seen.found : undefined;

/** Why it is not known whether something is there. */
export const unknownIn = (seen: Observation<unknown>): Unknown | undefined =>
  typeof seen === 'object' && 'unknown' in seen ? seen.unknown : undefined;

/** The same with a part of what was found. */
export const mapObservation = <T, P>(seen: Observation<T>, pick: (found: T) => P): Observation<P> =>
  typeof seen === 'object' && 'found' in seen ? { found: pick(seen.found) } : seen;
