import type { Operation } from 'fast-json-patch';
import type { Pod } from './pod.ts';

/** Version of the admission API. This file has the parts of it that cni-gate reads or writes. */
export const reviewApiVersion = 'admission.k8s.io/v1';
/** The kind of requests and responses. */
export const reviewKind = 'AdmissionReview';

/** A request of the API server about a pod. */
export interface PodRequest {
  uid: string;
  namespace: string;
  /** The pod's name, or its generateName followed by `*`, for people. */
  name: string;
  operation: string;
  subResource: string;
  dryRun: boolean;
  pod: Pod;
}

/** A webhook's answer to one request. */
export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  /** Base64 of a JSON Patch; only together with patchType. */
  patch?: string;
  patchType?: 'JSONPatch';
  status?: { code: number; reason: string; message: string };
  warnings?: string[];
  /** The API server prefixes each key with the webhook's name. */
  auditAnnotations?: Record<string, string>;
}

/** The body of a response to the API server. */
export interface AdmissionReview {
  apiVersion: typeof reviewApiVersion;
  kind: typeof reviewKind;
  response: AdmissionResponse;
}

/** One operation of a JSON Patch. */
export type { Operation };
