import { allContainers, type Container, type Pod } from '../../../webhook/admission/pod.ts';
import { validatorContainer } from '../../../webhook/lib/names.ts';

/** A container as a mesh or a secrets agent adds it, with the resources of ours: it takes none of them away. */
function guest(pod: Pod, name: string): Container {
  const ours = allContainers(pod).find((container) => container.name === validatorContainer);
  return {
    name,
    image: 'registry.example/agent:3',
    imagePullPolicy: 'IfNotPresent',
    resources: structuredClone(ours?.resources ?? {}),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
}

export function initContainerFirst(name: string): (pod: Pod) => void {
  return (pod) => {
    if (allContainers(pod).some((container) => container.name === name)) return;
    pod.spec.initContainers = [guest(pod, name), ...(pod.spec.initContainers ?? [])];
  };
}

export function appendSidecar(pod: Pod): void {
  const name = 'log-forwarder';
  if (allContainers(pod).some((container) => container.name === name)) return;
  pod.spec.containers = [...pod.spec.containers, guest(pod, name)];
}

export function addVariable(pod: Pod): void {
  for (const container of allContainers(pod)) {
    if (container.env?.some((variable) => variable.name === 'CLUSTER')) continue;
    container.env = [...(container.env ?? []), { name: 'CLUSTER', value: 'eu-1' }];
  }
}

export function mountCertificates(pod: Pod): void {
  const name = 'corporate-ca';
  if (pod.spec.volumes?.some((volume) => volume.name === name)) return;
  pod.spec.volumes = [...(pod.spec.volumes ?? []), { name, configMap: { name, defaultMode: 0o644 } }];
  for (const container of allContainers(pod)) {
    const mount = { name, mountPath: '/etc/ssl/corporate', readOnly: true };
    container.volumeMounts = [...(container.volumeMounts ?? []), mount];
  }
}

/**
 * OpenShift's restricted-v2: a user id of the namespace's range for each container that names none, SELinux
 * options for the pod, all capabilities dropped. Its `security-context-constraints` admission plugin.
 */
export function assignOpenShiftIds(pod: Pod): void {
  pod.spec.securityContext = {
    fsGroup: 1_000_680_000,
    seLinuxOptions: { level: 's0:c26,c15' },
    seccompProfile: { type: 'RuntimeDefault' },
    ...pod.spec.securityContext,
  };
  pod.metadata.annotations = { ...pod.metadata.annotations, 'openshift.io/scc': 'restricted-v2' };
  for (const container of allContainers(pod)) {
    const context = container.securityContext ?? {};
    container.securityContext = {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      ...context,
      ...((context.runAsUser ?? pod.spec.securityContext.runAsUser ?? undefined) === undefined && {
        runAsUser: 1_000_680_000,
      }),
    };
  }
}
