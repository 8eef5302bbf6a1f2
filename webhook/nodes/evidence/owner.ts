import { nameCharacters } from '../../lib/limits.ts';
import type { Controller } from './facts.ts';

/** The part of a pod's metadata that says whose it is, as the API gives it. */
export interface OwnedMetadata {
  uid: string;
  namespace?: string;
  ownerReferences?: (Controller & { controller?: boolean | null })[] | null;
}

/** The owner reference of a pod's controller; undefined where it has none, or one with a text that is too long to keep. */
export function controllerOf({ ownerReferences }: OwnedMetadata): Controller | undefined {
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  const isShort = [apiVersion, kind, name, uid].every(
    (value) => typeof value === 'string' && value.length <= nameCharacters,
  );
  return isShort ? { apiVersion, kind, name, uid } : undefined;
}

/**
 * Identifies the owner of a pod: its controller by namespace, apiVersion, kind and UID, or the pod itself where it has
 * none. The UID alone would not do. The API server does not check owner references, so a pod of one namespace may name
 * the UID of a controller in another. An owner is in the namespace of its pod
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/). The key is JSON, so no text of
 * one part can pass for two.
 */
export function ownerKeyOf(metadata: OwnedMetadata): string {
  const controller = controllerOf(metadata);
  return controller === undefined ? metadata.uid : ownerKey(metadata.namespace ?? '', controller);
}

/** The key of a controller: see {@link ownerKeyOf}. */
export const ownerKey = (namespace: string, { apiVersion, kind, uid }: Controller): string =>
  JSON.stringify([namespace, apiVersion, kind, uid]);
