import { readFileSync } from 'node:fs';
import type { Operation } from 'fast-json-patch';
import { parse } from 'yaml';
import type { AdmissionResponse } from '../../webhook/admission/review.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';

interface Recorded {
  request: Record<string, unknown> & { uid: string; object: Pod };
}

const text = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const whole = (name: string): Recorded => JSON.parse(text(`../reviews/${name}.json`));
const { defaults: _, ...differing } = parse(text('reviews.yaml'), { merge: true });

/** The names of the recorded reviews of pods. */
export const recordedPods: readonly string[] = ['pod-meshed', ...Object.keys(differing)];

/** A review that a real API server sent, from `tests/reviews` or from `reviews.yaml`. */
export function recorded(name: string): Recorded {
  if (!(name in differing)) return whole(name);
  const review = whole('pod-meshed');
  const { name: _, ...common } = review.request;
  const { object, ...fields } = JSON.parse(JSON.stringify(differing[name]));
  const pod: Pod = { kind: 'Pod', apiVersion: 'v1', ...object, status: {} };
  return { ...review, request: { ...common, ...fields, object: pod } };
}

export function reviewOf(pod: unknown, request: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '3c0f6d3e-9a37-4b0c-8d5c-0b1f6f0f3a11',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'shop',
      operation: 'CREATE',
      object: pod,
      ...request,
    },
  };
}

export function patchOf(response: AdmissionResponse): Operation[] {
  return response.patch === undefined ? [] : JSON.parse(Buffer.from(response.patch, 'base64').toString());
}
