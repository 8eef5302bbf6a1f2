/** Names that cni-gate uses in clusters. Each is defined only here. */

/** Address of the documentation. Messages link to pages by this address and a path in `docs/`. */
export const docsUrl = 'https://github.com/cni-gate/cni-gate/blob/main/docs/';

/** Label of a namespace that opts in. On a pod, it overrides the namespace's label, or is copied from it. */
export const profileLabel = 'cni-gate.io/profile';

/** Value of {@link profileLabel} on a pod that opts out. */
export const optOutValue = 'none';

/** Annotation on an injected pod: JSON that records what was injected and why. */
export const statusAnnotation = 'cni-gate.io/status';

/** Annotation on a pod that repair released from its Job before deleting it. The value is the Job's name. */
export const releasedAnnotation = 'cni-gate.io/released-from';

/** Label and annotation keys with this prefix belong to cni-gate. */
export const ownPrefix = 'cni-gate.io/';

/** Name of the validating webhook for bindings. The scheduler writes this name into the condition of a refused pod. */
export const bindingsWebhook = 'bindings.cni-gate.io';

/** Webhooks of the gate: one for bindings, and one for pods that are created with a node name. */
export const gateWebhooks = [bindingsWebhook, 'placed-pods.cni-gate.io'] as const;

/** Webhook that warns about wrong profile labels of namespaces. It never refuses. */
export const namespacesWebhook = 'namespaces.cni-gate.io';

/** Name of the two webhook configurations of an installation. */
export const webhookConfiguration = 'cni-gate';
/** Names of the webhooks in each of the two configurations. */
export const installedWebhooks = {
  mutating: ['pods.cni-gate.io'],
  validating: [...gateWebhooks, namespacesWebhook],
} as const;

/** The default port for admission calls; `--port` sets another one. */
export const defaultPort = 8443;

/** Name of the Service of an installation. */
export const installedService = 'cni-gate';
/** Name of the Deployment of an installation. */
export const installedDeployment = 'cni-gate';
/** Names of the ValidatingAdmissionPolicies of an installation. */
export const installedPolicies = ['pods.cni-gate.io', 'service-account.cni-gate.io'] as const;

/** Label on the Secret of the managed certificates. Without it, cni-gate does not replace a Secret's data. */
export const certificatesLabel = 'cni-gate.io/certificates';
/** Value of {@link certificatesLabel}. */
export const certificatesLabelValue = 'managed';

/** Lease in cni-gate's own namespace. Its holder is the leader. */
export const leaderLease = 'cni-gate-leader';

/** An object's name in messages and maps: `namespace/name`, or only `name` if the object has no namespace. */
export const nameOf = ({ namespace, name }: { namespace?: string | undefined; name: string }): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** `reportingController` of events. */
export const eventReporter = 'cni-gate.io/leader';
/** Reasons of the leader's events. */
export const eventReasons = {
  nominated: 'NodeNominated',
  notNominated: 'NotNominated',
  recreated: 'Recreated',
  wouldRecreate: 'WouldRecreate',
  notRecreated: 'NotRecreated',
  duplicateAddress: 'DuplicateAddress',
  lost: 'NetworkLost',
  recovered: 'NetworkRecovered',
} as const;

/** `action` of the events on pods that are not recreated; it is `stop` if repair has stopped, otherwise `leave`. */
export const eventActions = { leave: 'Leave', stop: 'Stop' } as const;

/** The ConfigMap of an installation's configuration, in cni-gate's own namespace, and the key in its data. */
export const installedConfiguration = { name: 'cni-gate', key: 'config.yaml' } as const;

/** Name of the injected init container. */
export const validatorContainer = 'cni-gate-validator';

/** Downward API volume with annotations that are written only after the pod was created. */
export const podInfoVolume = 'cni-gate-podinfo';
/** Where the init container mounts {@link podInfoVolume}. */
export const podInfoMountPath = '/run/cni-gate';
/** File in {@link podInfoVolume} with the network status that Multus writes. */
export const networkStatusPath = 'network-status';

/** Label keys and annotation keys of other projects. */
export const foreign = {
  /** Kubernetes: marks the API object of a static pod. */
  mirrorPod: 'kubernetes.io/config.mirror',
  /** Multus (Network Plumbing Working Group): the networks that a pod requests. */
  networks: 'k8s.v1.cni.cncf.io/networks',
  /** Multus: the networks that a pod has, written when its sandbox is created. */
  networkStatus: 'k8s.v1.cni.cncf.io/network-status',
  /** Kubernetes: the labels by which a Job finds its pods. Sources: `JobNameLabel` and others in k8s.io/api/batch/v1. */
  jobLabels: [
    'batch.kubernetes.io/controller-uid',
    'batch.kubernetes.io/job-name',
    'controller-uid',
    'job-name',
  ],
  /** Kubernetes: which operating system a node runs. */
  osLabels: ['kubernetes.io/os', 'beta.kubernetes.io/os'],
} as const;
