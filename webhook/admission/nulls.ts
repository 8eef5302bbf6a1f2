import type { ObjectMeta, Pod, Resources } from './pod.ts';

/**
 * Replaces each null with the value that the API server reads: an empty string in a map of strings, the quantity 0 in
 * requests and limits, an empty reference in `imagePullSecrets`. In most other places null means absent, and the code
 * that reads them handles it. The API server sends no such nulls, because it decodes and encodes an object before it
 * calls a webhook. Manifests and recorded reviews contain them.
 *
 * Source: Go's `encoding/json`, which leaves the zero value where it reads null, and `Quantity.UnmarshalJSON` of
 * apimachinery; `tests/cluster/nulls.test.ts` compares.
 *
 * @param pod as it was sent; it is changed in place
 */
export function fillNulls({ metadata, spec }: Pod): void {
  const names: ('name' | 'generateName' | 'namespace')[] = ['name', 'generateName', 'namespace'];
  for (const name of names) {
    if ((metadata as Nullable<ObjectMeta>)[name] === null) metadata[name] = '';
  }
  for (const map of [metadata.labels, metadata.annotations, spec.nodeSelector]) fill(map, '');
  for (const { resources } of [spec, ...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    fillResources(resources);
  }
  for (const [index, secret] of (spec.imagePullSecrets ?? []).entries()) {
    if (secret === null) spec.imagePullSecrets?.splice(index, 1, {});
  }
}

type Nullable<T> = { [K in keyof T]: T[K] | null };

function fillResources(resources: Resources | null | undefined): void {
  fill(resources?.requests, '0');
  fill(resources?.limits, '0');
}

function fill(map: Record<string, unknown> | null | undefined, value: string): void {
  for (const [key, found] of Object.entries(map ?? {})) {
    // `__proto__` is a key like any other, but an assignment would not set it
    if (found === null)
      Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
  }
}
