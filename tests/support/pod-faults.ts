import type { Container, Pod, Resources } from '../../webhook/admission/pod.ts';
import { typeFaults } from './kubernetes/openapi.ts';
import { nanos } from './kubernetes/quantity.ts';

/**
 * Why an API server would refuse this pod, as far as two parts of a pod that do not go together: the types of all
 * fields, names that are used twice, mounts, and amounts. A fault keeps its text when containers move. Everything else
 * is for the API server itself: see tests/cluster/injection-random.test.ts and manifests-policy-golden.test.ts.
 *
 * @param pod parsed JSON or YAML
 */
export function podFaults(pod: unknown): string[] {
  const wrongTypes = typeFaults('V1Pod', pod, 'pod');
  // the rules read fields by type, so they only make sense where the types hold
  if (wrongTypes.length > 0) return wrongTypes;
  const { metadata, spec } = pod as Pod;
  if (!metadata || !spec?.containers) return ['pod: no metadata or no containers'];
  const containers = [...(spec.initContainers ?? []), ...spec.containers, ...ephemeralIn(spec)];
  const volumes = (spec.volumes ?? []).map(({ name }) => name);
  return [
    ...twice(containers.map(({ name }) => name)).map((name) => `container ${name}: is there twice`),
    ...twice(volumes).map((name) => `volume ${name}: is there twice`),
    ...containers.flatMap((container) => mountFaults(container, volumes)),
    ...containers.flatMap(({ name, resources }) => resourceFaults(resources, name)),
    ...resourceFaults(spec.resources, 'pod'),
  ];
}

const ephemeralIn = (spec: Pod['spec']): Container[] =>
  (spec.ephemeralContainers as Container[] | null | undefined) ?? [];

const twice = (names: readonly (string | undefined)[]): (string | undefined)[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

function mountFaults({ name, volumeMounts }: Container, volumes: readonly string[]): string[] {
  const mounts = volumeMounts ?? [];
  return [
    ...mounts
      .filter((mount) => !volumes.includes(mount.name))
      .map((mount) => `mounts no volume ${mount.name}`),
    ...twice(mounts.map(({ mountPath }) => mountPath)).map((path) => `mounts two volumes at ${path}`),
  ].map((fault) => `container ${name}: ${fault}`);
}

function resourceFaults(resources: Resources | null | undefined, owner: string): string[] {
  const { requests, limits } = resources ?? {};
  const none = [requests, limits].flatMap((amounts) =>
    Object.entries(amounts ?? {}).filter(([, value]) => (nanos(value) ?? -1n) < 0n),
  );
  const above = Object.entries(requests ?? {}).filter(([name, value]) => {
    const limit = Object.hasOwn(limits ?? {}, name) ? limits?.[name] : undefined;
    return limit !== undefined && (nanos(value) ?? 0n) > (nanos(limit) ?? 0n);
  });
  return [
    ...none.map(([name, value]) => `${owner}: ${name} of "${value}" is no quantity`),
    ...above.map(([name, value]) => `${owner}: the request ${name} of ${value} is above the limit`),
  ];
}
