import jsonpatch, { type Operation } from 'fast-json-patch';
import { type Decision, type MutateContext, mutate } from '../../webhook/admission/mutate.ts';
import type { AdmissionResponse } from '../../webhook/admission/review.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';
import { patchOf, reviewOf } from './reviews.ts';

export interface Answer {
  decision: Decision;
  response: AdmissionResponse;
  /** The patch, decoded from the response as the API server decodes it. */
  patch: Operation[];
}

/** Copies a value through JSON, so that keys such as `__proto__` stay ordinary keys, as in a request. */
export function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Calls `mutate()` for a pod. @param request fields that differ from a request to create it in namespace `shop` */
export function answerTo(pod: Pod, context: MutateContext, request: Record<string, unknown> = {}): Answer {
  const review = reviewOf(copyOf(pod), request);
  const { decision, review: answer } = mutate(review, context);
  return { decision, response: answer.response, patch: patchOf(answer.response) };
}

/** The pod after a patch; the given pod is not changed. @throws if the patch does not apply */
export function patched(pod: Pod, patch: Operation[]): Pod {
  return jsonpatch.applyPatch(copyOf(pod), copyOf(patch), true, true).newDocument;
}
