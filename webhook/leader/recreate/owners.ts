import type { RepairSettings } from '../../config/types.ts';
import type { Controller } from '../../nodes/evidence/facts.ts';
import type { DeletionMethod, SkipReason } from './types.ts';

/** Why no controller would recreate a deleted pod. */
export type NotRecreated = Extract<SkipReason, 'static-pod' | 'no-controller' | 'unknown-controller'>;

/** How pods of Kubernetes' own controllers are recreated, by `group/kind`. */
const known: ReadonlyMap<string, DeletionMethod> = new Map([
  ['apps/ReplicaSet', 'delete'],
  ['apps/StatefulSet', 'delete'],
  ['apps/DaemonSet', 'delete'],
  // a deleted pod counts as a failed one, a released pod does not: the Job would use up its backoffLimit
  ['batch/Job', 'release-and-delete'],
]);

/**
 * How a pod of this controller is recreated, or why it would not be. A static pod's mirror has its Node as
 * controller.
 *
 * @param others further kinds of controllers
 */
export function howToRecreate(
  controller: Controller | undefined,
  others: RepairSettings['owners'],
): { how: DeletionMethod } | { not: NotRecreated } {
  if (controller === undefined) return { not: 'no-controller' };
  const { apiVersion, kind } = controller;
  if (apiVersion === 'v1' && kind === 'Node') return { not: 'static-pod' };
  const [group, version] = apiVersion.split('/');
  const how = version === undefined ? undefined : known.get(`${group}/${kind}`);
  if (how !== undefined) return { how };
  const isOther = others.some(
    (other) => other.kind === kind && [apiVersion, `${group}/*`].includes(other.apiVersion),
  );
  return isOther ? { how: 'delete' } : { not: 'unknown-controller' };
}

/** Whether the controller's pods cannot run on other nodes. */
export const isBoundToNode = ({ apiVersion, kind }: Controller): boolean =>
  isOf(apiVersion, kind, 'DaemonSet');

/** Whether the controller's pods are recreated one after the other, by their ordinals. */
export const isOrdered = ({ apiVersion, kind }: Controller): boolean => isOf(apiVersion, kind, 'StatefulSet');

const isOf = (apiVersion: string, kind: string, of: string): boolean =>
  apiVersion.startsWith('apps/') && kind === of;

/** The number at the end of the name of a StatefulSet's pod; 0 where there is none. */
export function ordinalOf({ name }: { name: string }): number {
  const digits = /-(\d{1,15})$/.exec(name)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
