/** Names of cni-gate that appear on objects of the cluster. Each stands here and nowhere else. */

/** Where the documentation is read: messages name pages by this address and a path in `docs/`. */
export const docsUrl = 'https://github.com/cni-gate/cni-gate/blob/main/docs/';

/** Label: on a namespace it opts in, on a pod it overrides the namespace's and marks what was injected. */
export const profileLabel = 'cni-gate.io/profile';

/** Value of {@link profileLabel} on a pod that wants no proof. */
export const optOutValue = 'none';

/** Annotation on an injected pod: JSON that says what was injected and why. */
export const statusAnnotation = 'cni-gate.io/status';

/** Keys with this prefix belong to cni-gate. */
export const ownPrefix = 'cni-gate.io/';

/** Name of the validating webhook that is asked about bindings: the scheduler tells it in what it writes on a pod. */
export const bindingsWebhook = 'bindings.cni-gate.io';

/** Webhooks by which the gate is asked about every way of putting a pod on a node. */
export const gateWebhooks = [bindingsWebhook, 'placed-pods.cni-gate.io'] as const;

/** Webhook that warns of a wrong label on a namespace; nothing depends on it. */
export const namespacesWebhook = 'namespaces.cni-gate.io';

/** Name that the webhook configurations of an installation have, and the webhooks in each. */
export const webhookConfiguration = 'cni-gate';
/** Names of the webhooks in each of the two configurations. */
export const installedWebhooks = {
  mutating: ['pods.cni-gate.io'],
  validating: [...gateWebhooks, namespacesWebhook],
} as const;

/** Names that the Service, the Deployment and the policies of an installation have. */
export const installedService = 'cni-gate';
/** Name of the Deployment of an installation. */
export const installedDeployment = 'cni-gate';
/** Names of the ValidatingAdmissionPolicies of an installation. */
export const installedPolicies = ['pods.cni-gate.io', 'service-account.cni-gate.io'] as const;

/** Label on the Secret of the managed certificates: without it the Secret is not ours to write. */
export const certificatesLabel = 'cni-gate.io/certificates';
/** Value of that label. */
export const certificatesLabelValue = 'managed';

/** Lease in cni-gate's own namespace: its holder is the one replica that acts on its own account. */
export const leaderLease = 'cni-gate-leader';

/** Who tells events on pods that are held: `reportingController`. */
export const eventReporter = 'cni-gate.io/leader';
/** Reasons of these events. */
export const eventReasons = { nominated: 'NodeNominated', heldForLong: 'HeldForLong' } as const;

/** ClusterRole of the manifests for people who run `cni-gate status`. */
export const statusRole = 'cni-gate-status';

/** ConfigMap in cni-gate's own namespace, and the key in it, that hold the configuration of an installation. */
export const installedConfiguration = { name: 'cni-gate', key: 'config.yaml' } as const;

/** Name of the injected init container. */
export const validatorContainer = 'cni-gate-validator';

/** Downward API volume that holds the annotations which are written after the pod's containers are made. */
export const podInfoVolume = 'cni-gate-podinfo';
/** Where the init container mounts that volume. */
export const podInfoMountPath = '/run/cni-gate';
/** File in that volume with the network status that Multus writes. */
export const networkStatusPath = 'network-status';

/** Label keys and annotation keys of other projects, each with its home. */
export const foreign = {
  /** Kubernetes: on the API object that stands for a static pod. */
  mirrorPod: 'kubernetes.io/config.mirror',
  /** Multus (Network Plumbing Working Group): the networks that a pod asks for. */
  networks: 'k8s.v1.cni.cncf.io/networks',
  /** Multus: the networks that a pod got, written when its sandbox is made. */
  networkStatus: 'k8s.v1.cni.cncf.io/network-status',
  /** Kubernetes: which operating system a node runs. */
  osLabels: ['kubernetes.io/os', 'beta.kubernetes.io/os'],
} as const;
