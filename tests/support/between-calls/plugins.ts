import { allContainers, type Pod, type Quantities } from '../../../webhook/admission/pod.ts';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/**
 * The ServiceAccount plugin: a token's volume, and its mount in each container that mounts nothing there.
 * Kubernetes `plugin/pkg/admission/serviceaccount/admission.go`, `mountServiceAccountToken`.
 */
export function mountServiceAccount(pod: Pod): void {
  const { spec } = pod;
  spec.serviceAccountName ??= 'default';
  spec.serviceAccount ??= spec.serviceAccountName;
  if (spec.automountServiceAccountToken === false) return;
  const known = spec.volumes?.find((volume) => volume.name.startsWith(volumePrefix))?.name;
  const name = known ?? `${volumePrefix}x7z2q`;
  const lacking = allContainers(pod).filter(
    (container) => !container.volumeMounts?.some((mount) => mount.mountPath === mountPath),
  );
  for (const container of lacking) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  }
  if (known === undefined && lacking.length > 0) {
    spec.volumes = [...(spec.volumes ?? []), { name, projected: { defaultMode: 0o644, sources } }];
  }
}

const sources = [
  { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
  { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  {
    downwardAPI: {
      items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
    },
  },
];

/** The DefaultTolerationSeconds and Priority plugins, and the empty status of a pod that is being made. */
export function scheduleDefaults(pod: Pod): void {
  const effect = 'NoExecute';
  pod.spec.tolerations ??= ['not-ready', 'unreachable'].map((condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: 'Exists',
    effect,
    tolerationSeconds: 300,
  }));
  pod.spec.priority ??= 0;
  pod.spec.preemptionPolicy ??= 'PreemptLowerPriority';
  pod.status ??= {};
}

/** The AlwaysPullImages plugin: Kubernetes `plugin/pkg/admission/alwayspullimages/admission.go`. */
export function alwaysPullImages(pod: Pod): void {
  for (const container of allContainers(pod)) container.imagePullPolicy = 'Always';
}

/**
 * The LimitRanger plugin: what a LimitRange gives to containers that set nothing, whether the pod has resources
 * of its own or not. Kubernetes `plugin/pkg/admission/limitranger/admission.go`, `mergePodResourceRequirements`.
 */
export function limitRange(defaults: { limits: Quantities; requests: Quantities }): (pod: Pod) => void {
  return (pod) => {
    for (const container of allContainers(pod)) {
      const resources = container.resources ?? {};
      container.resources = {
        ...resources,
        limits: { ...defaults.limits, ...resources.limits },
        requests: { ...defaults.requests, ...resources.requests },
      };
    }
    pod.metadata.annotations = {
      ...pod.metadata.annotations,
      'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu, memory request for container app',
    };
  };
}
