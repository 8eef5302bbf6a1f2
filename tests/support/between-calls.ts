import { allContainers, type Container, type Pod } from '../../webhook/core/facts/pod.ts';
import { validatorContainer } from '../../webhook/lib/names.ts';

/* Changes that plugins of the API server and other webhooks make to a pod between two calls. */

/** Changes a pod in place. If the change is made a second time, it has no effect. */
export type Change = (pod: Pod) => void;

/** A container as a mesh or a secrets agent adds it, with the same resources as our init container. */
function guest(pod: Pod, name: string): Container {
  const ours = allContainers(pod).find((container) => container.name === validatorContainer);
  return { name, image: 'registry.example/agent:3', resources: structuredClone(ours?.resources ?? {}) };
}

const has = (pod: Pod, name: string): boolean =>
  allContainers(pod).some((container) => container.name === name);

export const initContainerFirst =
  (name: string): Change =>
  (pod) => {
    if (!has(pod, name)) pod.spec.initContainers = [guest(pod, name), ...(pod.spec.initContainers ?? [])];
  };

function appendSidecar(pod: Pod): void {
  const name = 'log-forwarder';
  if (!has(pod, name)) pod.spec.containers = [...pod.spec.containers, guest(pod, name)];
}

function addVariable(pod: Pod): void {
  for (const container of allContainers(pod)) {
    if (container.env?.some(({ name }) => name === 'CLUSTER')) continue;
    container.env = [...(container.env ?? []), { name: 'CLUSTER', value: 'eu-1' }];
  }
}

/**
 * The ServiceAccount plugin, which adds a token volume and mounts it in each container without such a mount:
 * Kubernetes `plugin/pkg/admission/serviceaccount/admission.go`, `mountServiceAccountToken`.
 */
export function mountServiceAccount({ spec, ...pod }: Pod): void {
  const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
  const prefix = 'kube-api-access-';
  if (spec.automountServiceAccountToken === false) return;
  const known = spec.volumes?.find((volume) => volume.name.startsWith(prefix))?.name;
  const name = known ?? `${prefix}x7z2q`;
  const lacking = allContainers({ spec, ...pod }).filter(
    (container) => !container.volumeMounts?.some((mount) => mount.mountPath === mountPath),
  );
  for (const container of lacking)
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  if (known === undefined && lacking.length > 0)
    spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources: [] } }];
}

/** The AlwaysPullImages plugin: Kubernetes `plugin/pkg/admission/alwayspullimages/admission.go`. */
function alwaysPullImages(pod: Pod): void {
  for (const container of allContainers(pod)) container.imagePullPolicy = 'Always';
}

/** The LimitRanger plugin, which gives the defaults of a LimitRange to containers without any requests and limits. */
function limitRange(pod: Pod): void {
  for (const container of allContainers(pod)) {
    const { limits, requests } = container.resources ?? {};
    if (Object.keys({ ...limits, ...requests }).length > 0) continue;
    container.resources = {
      limits: { cpu: '1', memory: '512Mi' },
      requests: { cpu: '100m', memory: '128Mi' },
    };
  }
}

export const changes: Readonly<Record<string, Change>> = {
  mountServiceAccount,
  alwaysPullImages,
  limitRange,
  initContainerFirst: initContainerFirst('vault-agent-init'),
  appendSidecar,
  addVariable,
};
