import type { WebhookRules } from './digests.ts';
import type { Observation } from './observation.ts';

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

/** A Service that our webhooks call, and its endpoints. */
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
  /** The name of its service account. */
  account: string;
  /** The Secret of its serving certificate; absent where the Deployment does not say. */
  secret?: SecretKey;
}

/** A Secret in the namespace of the Deployment, and the key in it that contains a certificate. */
export interface SecretKey {
  name: string;
  key: string;
  /** Whether it is the authority that signs the replicas' certificates; otherwise it is what they serve. */
  isAuthority: boolean;
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
  /** Empty where no replica holds it. */
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
  policies: { pods: PolicyPair; serviceAccount: PolicyPair };
  lease: Observation<LeaseFacts>;
  /** What the API server does with a new pod while the webhook for pods does not answer; undefined: not known. */
  failurePolicy: 'Fail' | 'Ignore' | undefined;
  /** By namespace, the number of pods with the injected init container; asked for only where nothing is installed. */
  injected?: Observation<ReadonlyMap<string, number>>;
}
