import { allContainers, type Pod } from '../core/facts/pod.ts';
import type { Condition, Injector, Profile } from '../core/profiles/types.ts';
import { allMatch, applies } from '../core/proof/selection.ts';
import { type Finding, nameOf, type Workload } from './model.ts';

/** A mesh whose injector changes pods in the cluster, but not manifests. `name` is the profile's name. */
export type Mesh = Injector & { name: string };

type MeshNamespace = Record<'labels' | 'annotations', Record<string, string>>;

/** A mesh that a pod requests but whose injector has not run, and the profiles that require the injected proxy. */
export interface MeshGap {
  mesh: Mesh;
  /** Names of profiles that would apply after the injector has run. */
  profiles: string[];
}

/** The meshes that profiles describe. If several have the same name, the last counts. */
export function meshesOf(profiles: readonly Profile[]): Mesh[] {
  const meshes = profiles.flatMap(({ name, injector }) => (injector ? [{ name, ...injector }] : []));
  return [...new Map(meshes.map((mesh) => [mesh.name, mesh])).values()];
}

/** The meshes whose injector must run before these profiles apply to the pod. */
export function meshGaps(
  pod: Pod,
  namespace: MeshNamespace,
  profiles: readonly Profile[],
  meshes: readonly Mesh[],
): MeshGap[] {
  return meshes
    .filter((mesh) => !carriesProxy(pod, mesh) && injects(mesh, pod, namespace))
    .map((mesh) => {
      const waiting = profiles.filter(
        (profile) =>
          !applies(profile, pod, namespace.labels) &&
          applies(asIfInjected(profile, mesh), pod, namespace.labels),
      );
      return { mesh, profiles: waiting.map(({ name }) => name) };
    })
    .filter(({ profiles: waiting }) => waiting.length > 0);
}

/** Whether the injector has run. A container with the image `auto` is a placeholder, which the injector completes. */
const carriesProxy = (pod: Pod, { proxy }: Mesh): boolean =>
  allContainers(pod).some(({ name, image }) => name === proxy && image !== 'auto');

/** Whether the mesh's injector would act on the pod. */
function injects({ rules }: Mesh, { metadata }: Pod, namespace: MeshNamespace): boolean {
  const rule = rules.find(
    ({ labels, annotations, namespaceLabels, namespaceAnnotations }) =>
      allMatch(labels, metadata.labels) &&
      allMatch(annotations, metadata.annotations) &&
      allMatch(namespaceLabels, namespace.labels) &&
      allMatch(namespaceAnnotations, namespace.annotations),
  );
  return rule?.injects === true;
}

/** The profile, but its conditions do not require the containers and annotations that the mesh's injector adds. */
export function asIfInjected(profile: Profile, mesh: Mesh): Profile {
  const conditions = [profile.when].flat();
  if (!conditions.some((condition) => asksForProxy(condition, mesh))) return profile;
  const { container } = profile.proof;
  const imageOf = container?.imageOf;
  return {
    ...profile,
    when: conditions.map((condition) => (asksForProxy(condition, mesh) ? relax(condition, mesh) : condition)),
    // the container that `imageOf` names is not injected yet, so a placeholder stands for its image
    ...(imageOf?.startsWith(mesh.containerPrefix) && {
      proof: { ...profile.proof, container: { ...container, image: `image-of-${imageOf}` } },
    }),
  };
}

const asksForProxy = ({ container }: Condition, mesh: Mesh): boolean =>
  container?.startsWith(mesh.containerPrefix) === true;

/** The condition without its container, and without the mesh's annotations that it requires to exist. */
function relax({ container: _, annotations = {}, ...rest }: Condition, { domain }: Mesh): Condition {
  const left = Object.entries(annotations).filter(([key, matcher]) => {
    const prefix = key.slice(0, key.indexOf('/'));
    const isOfMesh = prefix === domain || prefix.endsWith(`.${domain}`);
    return !isOfMesh || allMatch({ [key]: matcher }, {});
  });
  return { ...rest, annotations: Object.fromEntries(left) };
}

/** The finding for a pod that requests a mesh, but cannot be checked before the mesh's injector has run. */
export function proxyMissing(workload: Workload, { mesh, profiles }: MeshGap): Finding {
  const names = `profile${profiles.length === 1 ? '' : 's'} ${profiles.join(', ')}`;
  const message = `requests ${mesh.name} and has no ${mesh.proxy} yet, so ${names} cannot check it: run the manifests through \`${mesh.command}\` first, or use --assume-meshed`;
  const { document, line } = workload;
  const subject = nameOf(workload);
  return { code: 'CNI_GATE_PROXY_MISSING', message, subject, file: document.file, line, workload };
}
