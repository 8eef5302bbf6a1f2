import { allContainers, type Container, type Pod, type Resources } from '../../../webhook/admission/pod.ts';
import { canonical } from '../kubernetes/quantity.ts';
import { dropEmpty } from './empty.ts';
import { fillPodRequests } from './pod-level.ts';

/** A field of a pod that is only looked at here. */
type Loose = Record<string, unknown>;

const loose = (value: unknown): Loose | undefined =>
  typeof value === 'object' && value !== null ? (value as Loose) : undefined;

const listOf = (value: unknown): Loose[] => (Array.isArray(value) ? value : []);

function fill(target: Loose | undefined, defaults: Loose): void {
  if (target === undefined) return;
  for (const [key, value] of Object.entries(defaults)) {
    if (target[key] === undefined || target[key] === null || target[key] === '') target[key] = value;
  }
}

/**
 * What the API server's decoding makes of a pod before the next webhook sees it: defaults filled in, quantities
 * written in their canonical form, empty lists and maps gone. Kubernetes `pkg/apis/core/v1/defaults.go`.
 */
export function fillDefaults(pod: Pod): void {
  dropEmpty(pod);
  const { spec } = pod;
  for (const container of allContainers(pod)) fillContainer(container);
  for (const volume of spec.volumes ?? []) fillVolume(volume);
  writeCanonically(spec.resources ?? {});
  fillPodRequests(pod);
  fill(spec, {
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
  });
}

function fillContainer(container: Container): void {
  const latest = !/[:@][^/]*$/.test(container.image ?? '') || container.image?.endsWith(':latest');
  fill(container, {
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  fillResources(container.resources ?? {});
  for (const port of listOf(container.ports)) fill(port, { protocol: 'TCP' });
  for (const variable of container.env ?? []) {
    fill(loose(loose(variable.valueFrom)?.fieldRef), { apiVersion: 'v1' });
  }
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = loose(container[name]);
    fill(probe, { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 });
    fill(loose(probe?.httpGet), { path: '/', scheme: 'HTTP' });
  }
}

function writeCanonically(resources: Resources): void {
  for (const map of [resources.requests ?? {}, resources.limits ?? {}]) {
    for (const [name, value] of Object.entries(map)) map[name] = canonical(value);
  }
}

/** `SetDefaults_Pod`: requests that are left out are those of the limits. */
function fillResources(resources: Resources): void {
  writeCanonically(resources);
  if (resources.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

function fillVolume(volume: Loose): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    fill(loose(volume[source]), { defaultMode: 0o644 });
  }
  fill(loose(volume.hostPath), { type: '' });
  const projected = listOf(loose(volume.projected)?.sources).map((source) => loose(source.downwardAPI));
  for (const downward of [loose(volume.downwardAPI), ...projected]) {
    for (const item of listOf(downward?.items)) fill(loose(item.fieldRef), { apiVersion: 'v1' });
  }
}
