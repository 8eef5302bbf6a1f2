import { allContainers, type Pod, type VolumeMount } from '../admission/pod.ts';
import { validatorContainer } from '../lib/names.ts';

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const volumePrefix = 'kube-api-access-';

/**
 * The mount of the service account's token that the API server's ServiceAccount plugin would add to the init container;
 * undefined if it would add none, or if that is not known.
 *
 * The plugin runs before the webhooks, and again after a webhook changed the pod. If it then changes the pod itself, the
 * API server calls the webhooks a second time. The plugin is active for a pod if each container has a mount at its path.
 *
 * Source: Kubernetes `plugin/pkg/admission/serviceaccount/admission.go`, `mountServiceAccountToken`
 */
export function tokenMount(pod: Pod): VolumeMount | undefined {
  const { volumes, automountServiceAccountToken } = pod.spec;
  const volume = volumes?.find(({ name }) => name.startsWith(volumePrefix));
  if (volume === undefined || automountServiceAccountToken === false) return undefined;
  const others = allContainers(pod).filter(({ name }) => name !== validatorContainer);
  const isActive = others.every(({ volumeMounts }) =>
    volumeMounts?.some((mount) => mount.mountPath === mountPath),
  );
  return isActive ? { name: volume.name, readOnly: true, mountPath } : undefined;
}
