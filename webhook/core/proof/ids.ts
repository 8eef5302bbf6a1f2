import type { RedirectCheck } from '../../../validator/shared/contract.ts';
import { getOwn } from '../../lib/maps.ts';
import type { NamespaceFacts } from '../facts/namespace.ts';
import { allContainers, type Pod } from '../facts/pod.ts';
import type { Id, Identity, IdSource } from '../profiles/types.ts';

/** The user and group ids of a proof in one pod. The names are those of the validator's contract. */
export type Ids = Record<
  keyof Pick<RedirectCheck, 'asUser' | 'asGroup' | 'notAsUser' | 'notAsGroup'>,
  number | undefined
>;

/** The ids that the checks of a proof require and exclude together. */
export interface ProofIds {
  asUser: number | undefined;
  /** Undefined if it equals `asUser`. */
  asGroup: number | undefined;
  notAsUsers: number[];
  notAsGroups: number[];
}

/** The parts of a pod that can contain an id. */
export interface Place {
  pod: Pod;
  namespace: NamespaceFacts;
}

type Field = 'runAsUser' | 'runAsGroup';

export function idsIn({ asUser, notAsUser, notAsGroup }: Identity, place: Place): Ids {
  return {
    asUser: idOf(asUser, 'runAsUser', place, true),
    asGroup: typeof asUser === 'object' ? groupBeside(asUser, place) : undefined,
    // an id of the whole pod is the application's: a rule that exempts it would exempt all traffic of the pod
    notAsUser: idOf(notAsUser, 'runAsUser', place, false),
    notAsGroup: idOf(notAsGroup, 'runAsGroup', place, false),
  };
}

/** @param ofPod whether the pod's id counts for containers without one */
function idOf(id: Id | undefined, field: Field, place: Place, ofPod: boolean): number | undefined {
  if (typeof id !== 'object') return id;
  return inAnnotations(id, place) ?? inContainers(id, field, place.pod, ofPod) ?? id.default;
}

/** The group of the containers from which the user id comes. An annotation for the user does not contain it. */
const groupBeside = (source: IdSource, { pod }: Place): number | undefined =>
  source.containers && (inContainers(source, 'runAsGroup', pod, true) ?? source.default);

/** The pod's annotation before its namespace's; an empty one counts as absent, as in linkerd2-proxy-init. */
function inAnnotations({ annotation }: IdSource, { pod, namespace }: Place): number | undefined {
  if (annotation === undefined) return undefined;
  return idIn(getOwn(pod.metadata.annotations, annotation) || getOwn(namespace.annotations, annotation));
}

/**
 * The id of the first container that has one, else the pod's. If a mesh's proxy runs as root, the rule uses the default
 * id (istio-cni, `NewRedirect`), so an explicit 0 of a container ends the search.
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
const greatest = 2_147_483_647;

const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= greatest;

/** Parses a number or a text of digits as an id; undefined if it is invalid, or root. */
function idIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\+?\d{1,20}$/.test(value) ? Number(value) : value;
  return isId(number) ? number : undefined;
}

/** User and group of our own image (`USER` of the Dockerfile). */
export const imageUser = 64_532;

/**
 * Returns the ids to set on the init container: where a check needs them, or where it would run as root or as an id
 * that the redirect exempts. OpenShift assigns ids by range and refuses others.
 * @param image user and group of the image; undefined if they are unknown
 */
export function runAsFor(pod: Pod, ids: ProofIds, image: number | undefined): Partial<Record<Field, number>> {
  const { asUser, asGroup } = ids;
  if (asUser !== undefined) return { runAsUser: asUser, runAsGroup: asGroup ?? asUser };
  const { runAsUser, runAsGroup } = pod.spec.securityContext ?? {};
  const user = runAsUser ?? image;
  const group = runAsGroup ?? (runAsUser === undefined || runAsUser === null ? image : undefined);
  const changesUser = user !== undefined && !mayRunAs(user, ids);
  if (!changesUser && (group === undefined || mayRunInGroup(group, ids))) return {};
  // an id that no mesh exempts, as user and as group: `nobody`, or one below it
  let id = 65_534;
  while (!mayRunAs(id, ids) || !mayRunInGroup(id, ids)) id--;
  return { ...(changesUser && { runAsUser: id }), runAsGroup: id };
}

/** Whether the proof is meaningful when it runs as this user. */
export function mayRunAs(user: number, ids: ProofIds): boolean {
  return user !== 0 && !ids.notAsUsers.includes(user);
}

export function mayRunInGroup(group: number, ids: ProofIds): boolean {
  return !ids.notAsGroups.includes(group);
}
