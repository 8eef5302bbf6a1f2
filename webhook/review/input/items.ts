import type { Path } from '../model.ts';
import { fieldsOf, isObject } from '../values.ts';

/** The objects in a document with several. */
export interface Items {
  list: unknown[];
  path: Path;
  /** Adds the fields that the items of a typed list omit. */
  complete: (item: unknown) => unknown;
}

/**
 * The items of a document: a list, a List, or a list of one kind such as PodList, whose items may omit kind and
 * apiVersion (https://kubernetes.io/docs/reference/using-api/api-concepts/#collections).
 */
export function itemsOf(value: unknown): Items | undefined {
  if (Array.isArray(value)) return { list: value, path: [], complete: (item) => item };
  const { kind, apiVersion, items } = fieldsOf(value);
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return undefined;
  const itemKind = kind.slice(0, -'List'.length);
  const complete = (item: unknown): unknown =>
    itemKind === '' || !isObject(item) || 'kind' in item ? item : { apiVersion, kind: itemKind, ...item };
  return { list: items, path: ['items'], complete };
}
