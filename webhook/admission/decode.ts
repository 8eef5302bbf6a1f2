import { quoted } from '../lib/clean.ts';
import type { Pod } from './pod.ts';
import { isPod } from './pod-schema.ts';
import { invalid, namespaceName, openEnvelope, type RequestHead } from './review.ts';

/** A request of the API server about a pod. */
export interface PodRequest extends RequestHead {
  pod: Pod;
}

/**
 * The request in the body of an admission call about a pod.
 *
 * The pod's own name is only shown, and is not checked: the API server does that after the webhooks, in words that are
 * better known.
 *
 * @throws CniGateError as {@link openEnvelope}, CNI_GATE_REVIEW_INVALID where the object is not a pod, or
 *   CNI_GATE_REVIEW_NAME where the namespace's name is malformed
 */
export function decodePodRequest(body: unknown): PodRequest {
  const { object, kind: _, ...request } = openEnvelope(body, 'Pod');
  const pod = podOf(object);
  const { name, generateName, namespace } = pod.metadata;
  return {
    ...request,
    namespace: namespaceName(request.namespace || (namespace ?? '')),
    name: quoted(request.name || name || `${generateName ?? ''}*`),
    pod,
  };
}

/**
 * The object of a request, as far as admission reads it. Nulls in it become what the API server makes of them.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID
 */
export function podOf(object: unknown): Pod {
  if (isPod(object)) {
    fillNulls(object);
    return object;
  }
  const fault = isPod.errors?.[0];
  throw invalid(`request.object${fault?.instancePath ?? ''} ${fault?.message ?? 'is not a pod'}`);
}

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
function fillNulls({ metadata, spec }: Pod): void {
  fill(metadata, '', ['name', 'generateName', 'namespace']);
  for (const map of [metadata.labels, metadata.annotations, spec.nodeSelector]) fill(map, '');
  for (const { resources } of [spec, ...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    fill(resources?.requests, '0');
    fill(resources?.limits, '0');
  }
  fill(spec.imagePullSecrets, {});
}

function fill(map: object | null | undefined, value: unknown, keys = Object.keys(map ?? {})): void {
  for (const key of keys) {
    // `__proto__` is a key like any other, but an assignment would not set it
    if (map && Reflect.get(map, key) === null)
      Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
  }
}
