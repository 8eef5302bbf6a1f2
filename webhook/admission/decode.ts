import type { Pod } from '../core/facts/pod.ts';
import { isPod } from '../core/facts/pod-schema.ts';
import { quoted } from '../lib/clean.ts';
import { InvalidObject, namespaceName, openEnvelope, type RequestHead } from './review.ts';

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
 * The object of a request, as far as admission reads it.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID
 */
export function podOf(object: unknown): Pod {
  if (isPod(object)) return object;
  const fault = isPod.errors?.[0];
  throw new InvalidObject(fault?.instancePath ?? '', fault?.message ?? 'is not a pod');
}
