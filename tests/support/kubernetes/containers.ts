import type { Container, Pod } from '../../../webhook/admission/pod.ts';
import { fieldRefFaults } from './downward.ts';
import { isDnsLabel, isVariableName } from './formats.ts';
import { resourceFaults } from './resources.ts';
import { securityFaults } from './security.ts';

const pullPolicies = new Set([undefined, null, '', 'Always', 'IfNotPresent', 'Never']);
const messagePolicies = new Set([undefined, null, '', 'File', 'FallbackToLogsOnError']);

/** What only a sidecar may have among the init containers: `validateInitContainers`. */
const notInInit = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe', 'resizePolicy'];

type Kind = 'containers' | 'initContainers' | 'ephemeralContainers';

/**
 * Kubernetes `pkg/apis/core/validation`: `validateContainers`, `validateInitContainers`,
 * `validateContainerCommon`, `ValidateEnv`, `ValidateVolumeMounts`.
 */
export function containerFaults(pod: Pod): string[] {
  const seen = new Set<string>();
  const faults = pod.spec.containers.length === 0 ? ['containers: none'] : [];
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    for (const container of listOf(pod, kind)) {
      const path = `${kind}[${container.name}]`;
      if (seen.has(container.name)) faults.push(`${path}: a second container of that name`);
      seen.add(container.name);
      faults.push(...faultsOf(container, pod, kind, path));
    }
  }
  return faults;
}

const listOf = (pod: Pod, kind: Kind): Container[] =>
  (pod.spec[kind] as Container[] | null | undefined) ?? [];

function faultsOf(container: Container, pod: Pod, kind: Kind, path: string): string[] {
  const { name, image, imagePullPolicy, terminationMessagePolicy, resources } = container;
  const faults: string[] = [];
  if (!isDnsLabel(name ?? '')) faults.push(`${path}.name: is no DNS label`);
  if (image === undefined || image === '' || image !== image.trim()) faults.push(`${path}.image: "${image}"`);
  if (!pullPolicies.has(imagePullPolicy)) faults.push(`${path}.imagePullPolicy: "${imagePullPolicy}"`);
  if (!messagePolicies.has(terminationMessagePolicy as string | undefined)) {
    faults.push(`${path}.terminationMessagePolicy: "${terminationMessagePolicy}"`);
  }
  if (kind === 'initContainers') {
    const sidecar = container.restartPolicy === 'Always';
    const wrong = notInInit.filter((key) => !sidecar && container[key] !== undefined);
    for (const key of wrong) faults.push(`${path}.${key}: not on an init container`);
  }
  return [
    ...faults,
    ...variableFaults(container, path),
    ...mountFaults(container, pod, path),
    ...resourceFaults(resources, `${path}.resources`),
    ...securityFaults(container, pod, `${path}.securityContext`),
  ];
}

function variableFaults(container: Container, path: string): string[] {
  return (container.env ?? []).flatMap(({ name, value, valueFrom }) => {
    const at = `${path}.env[${name}]`;
    const sources = Object.entries(valueFrom ?? {}).filter(([, source]) => source !== null);
    return [
      ...(isVariableName(name ?? '') ? [] : [`${at}: is no name of a variable`]),
      ...(sources.length > 0 && value ? [`${at}: a value and a source`] : []),
      ...(valueFrom && sources.length !== 1 ? [`${at}: ${sources.length} sources`] : []),
      ...fieldRefFaults(Object.fromEntries(sources).fieldRef, 'variable', at),
    ];
  });
}

function mountFaults(container: Container, pod: Pod, path: string): string[] {
  const volumes = new Set((pod.spec.volumes ?? []).map((volume) => volume.name));
  const paths = new Set<string>();
  return (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const at = `${path}.volumeMounts[${name}]`;
    const twice = paths.has(mountPath);
    paths.add(mountPath);
    return [
      ...(volumes.has(name) ? [] : [`${at}: no such volume`]),
      ...(mountPath ? [] : [`${at}: no mountPath`]),
      ...(twice ? [`${at}: ${mountPath} is taken`] : []),
    ];
  });
}
