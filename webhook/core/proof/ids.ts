import type { RedirectCheck } from '../../../validator/shared/contract.ts';
import { getOwn } from '../../lib/maps.ts';
import type { NamespaceFacts } from '../facts/namespace.ts';
import { allContainers, type Pod } from '../facts/pod.ts';
import type { Id, Identity, IdSource } from '../profiles/types.ts';

/** The user and group ids of a proof in one pod. The fields are named as in the validator's contract. */
export type Ids = Record<
  keyof Pick<RedirectCheck, 'asUser' | 'asGroup' | 'notAsUser' | 'notAsGroup'>,
  number | undefined
>;

/** The ids that all checks of a proof together require and exclude. */
export interface ProofIds {
  asUser: number | undefined;
  /** The group id that the checks require; undefined if it equals `asUser`. */
  asGroup: number | undefined;
  notAsUsers: number[];
  notAsGroups: number[];
}

/** The objects that can contain an id. */
export interface Place {
  pod: Pod;
  namespace: NamespaceFacts;
}

type Field = 'runAsUser' | 'runAsGroup';

export function idsIn({ asUser, notAsUser, notAsGroup }: Identity, place: Place): Ids {
  return {
    asUser: idOf(asUser, 'runAsUser', place, true),
    asGroup: typeof asUser === 'object' ? groupBeside(asUser, place) : undefined,
    // ignores the pod-level id: the application has it too, so no mesh can exempt it from the redirect
    notAsUser: idOf(notAsUser, 'runAsUser', place, false),
    notAsGroup: idOf(notAsGroup, 'runAsGroup', place, false),
  };
}

/** @param ofPod whether the pod-level id counts for containers that set none */
function idOf(id: Id | undefined, field: Field, place: Place, ofPod: boolean): number | undefined {
  if (typeof id !== 'object') return id;
  return inAnnotations(id, place) ?? inContainers(id, field, place.pod, ofPod) ?? id.default;
}

/** The group id of the containers from which the user id comes. An annotation contains only a user id. */
const groupBeside = (source: IdSource, { pod }: Place): number | undefined =>
  source.containers && (inContainers(source, 'runAsGroup', pod, true) ?? source.default);

/** The id in the pod's annotation, or else in its namespace's. An empty annotation counts as absent, as for linkerd. */
function inAnnotations({ annotation }: IdSource, { pod, namespace }: Place): number | undefined {
  if (annotation === undefined) return undefined;
  return idIn(getOwn(pod.metadata.annotations, annotation) || getOwn(namespace.annotations, annotation));
}

/**
 * The id of the first named container that has a valid one, else the pod-level id. If a container sets 0, the pod-level
 * id does not count: a mesh's rule uses the default id for a proxy that runs as root (istio-cni, `NewRedirect`).
 */
function inContainers(
  { containers = [] }: IdSource,
  field: Field,
  pod: Pod,
  ofPod: boolean,
): number | undefined {
  const named = containers.flatMap(
    (name) => allContainers(pod).find((container) => container.name === name) ?? [],
  );
  const said = named.flatMap(({ securityContext }) => securityContext?.[field] ?? []);
  if (said.length > 0) return said.find(isId);
  return named.length > 0 && ofPod ? idIn(pod.spec.securityContext?.[field]) : undefined;
}

/** The greatest id that Kubernetes accepts (`IsValidUserID`). */
export const greatest = 2_147_483_647;

const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= greatest;

/** The text of an id above 0 in an annotation. The mutating policy uses the same pattern, in RE2. */
export const idText = /^[+]?0*[1-9][0-9]{0,9}$/;

/** Parses a number or a text of digits as an id; undefined if it is invalid, or root. */
function idIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && idText.test(value) ? Number(value) : value;
  return isId(number) ? number : undefined;
}

/** The user and group id of our own image (`USER` in the Dockerfile). */
export const imageUser = 64_532;

/**
 * Returns the ids to set on the init container. OpenShift assigns ids from a range and rejects all others, so ids are
 * set only if a check requires one, or if the container would run as root or as an exempted id.
 * @param image the user and group id of the image; undefined if they are unknown
 */
export function runAsFor(pod: Pod, ids: ProofIds, image: number | undefined): Partial<Record<Field, number>> {
  const { asUser, asGroup } = ids;
  if (asUser !== undefined) return { runAsUser: asUser, runAsGroup: asGroup ?? asUser };
  const { runAsUser, runAsGroup } = pod.spec.securityContext ?? {};
  const user = runAsUser ?? image;
  const group = runAsGroup ?? (runAsUser === undefined || runAsUser === null ? image : undefined);
  const changesUser = user !== undefined && !mayRunAs(user, ids);
  if (!changesUser && (group === undefined || mayRunInGroup(group, ids))) return {};
  // the highest id, from `nobody` downwards, that no mesh exempts as a user or as a group
  let id = 65_534;
  while (!mayRunAs(id, ids) || !mayRunInGroup(id, ids)) id--;
  return { ...(changesUser && { runAsUser: id }), runAsGroup: id };
}

/** Whether a proof may run as this user. As root, or as a user that a mesh's rule exempts, it would prove nothing. */
export function mayRunAs(user: number, ids: ProofIds): boolean {
  return user !== 0 && !ids.notAsUsers.includes(user);
}

export function mayRunInGroup(group: number, ids: ProofIds): boolean {
  return !ids.notAsGroups.includes(group);
}
