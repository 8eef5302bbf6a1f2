import type { Pod } from '../../core/facts/pod.ts';
import type { Condition, Profile } from '../../core/profiles/types.ts';
import { allMatch, applies } from '../../core/proof/selection.ts';
import { type Finding, nameOf, type Workload } from '../model.ts';
import { carriesProxy, type Mesh, type MeshNamespace, meshes } from './meshes.ts';

/** A mesh that a pod requests and whose proxy it lacks, and the profiles that require the proxy. */
export interface MeshGap {
  mesh: Mesh;
  /** Names of profiles that would apply after the injector has run. */
  profiles: string[];
}

/**
 * The meshes whose injector must run before these profiles apply to the pod.
 *
 * @param profiles the profiles of the pod's or its namespace's label
 */
export function meshGaps(pod: Pod, namespace: MeshNamespace, profiles: readonly Profile[]): MeshGap[] {
  return meshes
    .filter((mesh) => !carriesProxy(pod, mesh) && mesh.asks(pod, namespace))
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

/**
 * A profile that assumes that a mesh's injector has run: its conditions no longer require the containers and
 * annotations that the injector adds. They still exclude what they excluded.
 */
export function asIfInjected(profile: Profile, mesh: Mesh): Profile {
  const conditions = [profile.when].flat();
  if (!conditions.some((condition) => asksForProxy(condition, mesh))) return profile;
  const { container } = profile.proof;
  const imageOf = container?.imageOf;
  return {
    ...profile,
    when: conditions.map((condition) => (asksForProxy(condition, mesh) ? relax(condition, mesh) : condition)),
    // the container whose image it uses does not exist yet, and its image is unknown
    ...(imageOf?.startsWith(mesh.containerPrefix) && {
      proof: { ...profile.proof, container: { ...container, image: `image-of-${imageOf}` } },
    }),
  };
}

const asksForProxy = ({ container }: Condition, mesh: Mesh): boolean =>
  container?.startsWith(mesh.containerPrefix) === true;

/** The condition without the container, and without annotations of the mesh that must be there. */
function relax({ container: _, annotations = {}, ...rest }: Condition, { domain }: Mesh): Condition {
  const left = Object.entries(annotations).filter(([key, matcher]) => {
    const prefix = key.slice(0, key.indexOf('/'));
    const isOfMesh = prefix === domain || prefix.endsWith(`.${domain}`);
    return !isOfMesh || allMatch({ [key]: matcher }, {});
  });
  return { ...rest, annotations: Object.fromEntries(left) };
}

/** A pod that requests a mesh, and that a profile checks only after the mesh's injector has run. */
export function proxyMissing(workload: Workload, { mesh, profiles }: MeshGap): Finding {
  const { document, line } = workload;
  const names = `profile${profiles.length === 1 ? '' : 's'} ${profiles.join(', ')}`;
  return {
    code: 'CNI_GATE_PROXY_MISSING',
    message: `requests ${mesh.name} and has no ${mesh.proxy} yet, so ${names} cannot check it: run the manifests through \`${mesh.injector}\` first, or use --assume-meshed`,
    subject: nameOf(workload),
    file: document.file,
    line,
    workload,
  };
}
