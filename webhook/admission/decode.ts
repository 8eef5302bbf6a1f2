import { quoted } from '../lib/clean.ts';
import {
  describe,
  invalid,
  isCoreKind,
  isObject,
  namespaceName,
  openEnvelope,
  wrongKind,
} from './envelope.ts';
import { fillNulls } from './nulls.ts';
import type { Pod } from './pod.ts';
import { isPod } from './pod-schema.ts';
import type { PodRequest } from './review.ts';

/**
 * The request in the body of an admission call about a pod.
 *
 * The pod's own name is for people only here, and may be any: the API server judges it after the webhooks, in words that
 * are better known.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID, CNI_GATE_REVIEW_NAME where the namespace's name is malformed, or
 *   CNI_GATE_REVIEW_KIND where it is about something else than a pod
 */
export function decodePodRequest(body: unknown): PodRequest {
  const envelope = openEnvelope(body);
  if (!isCoreKind(envelope, 'Pod')) {
    throw wrongKind('Pod', envelope.kind);
  }
  const { object, kind: _, ...request } = envelope;
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
  if (!isObject(object)) throw invalid(`request.object should be the pod, is ${describe(object)}`);
  if (isPod(object)) {
    fillNulls(object);
    return object;
  }
  const fault = isPod.errors?.[0];
  throw invalid(`request.object${fault?.instancePath ?? ''} ${fault?.message ?? 'is not a pod'}`);
}
