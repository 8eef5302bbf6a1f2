import { readFileSync } from 'node:fs';
import type { Operation } from 'fast-json-patch';
import type { AdmissionResponse } from '../../webhook/admission/review.ts';
import type { Pod } from '../../webhook/core/facts/pod.ts';

/** A review that a real API server sent: see `tests/reviews`. */
export function recorded(name: string): { request: Record<string, unknown> & { uid: string; object: Pod } } {
  return JSON.parse(readFileSync(new URL(`../reviews/${name}.json`, import.meta.url), 'utf8'));
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
