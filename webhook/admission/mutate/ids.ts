import type { Id, Identity, IdSource } from '../../config/types.ts';
import { own } from '../../lib/own.ts';
import type { NamespaceFacts } from '../namespaces.ts';
import { allContainers, type Pod } from '../pod.ts';

/** The user and group ids of a proof in one pod. The names are those of the validator's contract. */
export interface Ids {
  asUser?: number;
  asGroup?: number;
  notAsUser?: number;
  notAsGroup?: number;
}

/** The parts of a pod that can contain an id. */
export interface Place {
  pod: Pod;
  namespace: NamespaceFacts;
}

/** The fields of a security context that contain ids. */
type Field = 'runAsUser' | 'runAsGroup';

/** The ids of a profile in this pod. */
export function idsIn({ asUser, notAsUser, notAsGroup }: Identity, place: Place): Ids {
  const user = idOf(asUser, 'runAsUser', place, 'pod');
  const group = typeof asUser === 'object' ? groupBeside(asUser, place) : undefined;
  // an id of the whole pod is the application's: a rule that exempts it would exempt all traffic of the pod
  const otherUser = idOf(notAsUser, 'runAsUser', place, 'none');
  const otherGroup = idOf(notAsGroup, 'runAsGroup', place, 'none');
  return {
    ...(user !== undefined && { asUser: user }),
    ...(group !== undefined && { asGroup: group }),
    ...(otherUser !== undefined && { notAsUser: otherUser }),
    ...(otherGroup !== undefined && { notAsGroup: otherGroup }),
  };
}

/** Whether the pod's ids count for containers without one: only for `asUser`. */
type Fallback = 'pod' | 'none';

function idOf(id: Id | undefined, field: Field, place: Place, fallback: Fallback): number | undefined {
  if (typeof id !== 'object') return id;
  return inAnnotations(id, place) ?? inContainers(id, field, place.pod, fallback) ?? id.default;
}

/** The group of the containers from which the user id comes. An annotation for the user does not contain it. */
const groupBeside = (source: IdSource, { pod }: Place): number | undefined =>
  source.containers && (inContainers(source, 'runAsGroup', pod, 'pod') ?? source.default);

/**
 * The pod's annotation before its namespace's; an empty one counts as absent (linkerd2-proxy-init,
 * `getAnnotationOverride`).
 */
function inAnnotations({ annotation }: IdSource, { pod, namespace }: Place): number | undefined {
  if (annotation === undefined) return undefined;
  return idIn(own(pod.metadata.annotations, annotation) || own(namespace.annotations, annotation));
}

/**
 * The id in the security context of the first container that has one, else the pod's, which applies to containers
 * without one. If a mesh's proxy runs as root, the rule uses the default id (istio-cni, `NewRedirect`), so an explicit
 * 0 of a container ends the search.
 */
function inContainers(
  { containers = [] }: IdSource,
  field: Field,
  pod: Pod,
  fallback: Fallback,
): number | undefined {
  const found = containers.flatMap((name) => allContainers(pod).find((it) => it.name === name) ?? []);
  const said = found.flatMap(({ securityContext }) => securityContext?.[field] ?? []);
  if (said.length > 0) return said.find(isId);
  return found.length > 0 && fallback === 'pod' ? idIn(pod.spec.securityContext?.[field]) : undefined;
}

/** The greatest id that Kubernetes accepts (`IsValidUserID`). */
const greatest = 2_147_483_647;

const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= greatest;

/** Parses a number or a text of digits as an id; undefined if it is invalid, or root. */
function idIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\+?\d{1,20}$/.test(value) ? Number(value) : value;
  return isId(number) ? number : undefined;
}
