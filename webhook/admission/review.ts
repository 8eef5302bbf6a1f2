import type { Pod } from '../core/facts/pod.ts';
import { isPod } from '../core/facts/pod-schema.ts';
import { clean, quoted } from '../lib/clean.ts';
import { CniGateError } from '../lib/errors.ts';
import { isObject } from '../lib/json.ts';
import { nameCharacters } from '../lib/limits.ts';
import { isNamespaceName, isUid } from '../lib/object-names.ts';

/** The version of the admission API. This file declares the parts of that API that cni-gate reads or writes. */
export const reviewApiVersion = 'admission.k8s.io/v1';
export const reviewKind = 'AdmissionReview';

/** The fields of every request in an AdmissionReview, whatever its object is. */
export interface RequestHead {
  uid: string;
  namespace: string;
  /** The name of the object; for a pod without a name, its generateName followed by `*`. */
  name: string;
  operation: string;
  subResource: string;
  dryRun: boolean;
}

export interface RequestEnvelope<Kind extends string> extends RequestHead {
  /** The kind of the object, in the core group, version v1. */
  kind: Kind;
  /** An object of that kind. Its fields are not validated yet. */
  object: Record<string, unknown>;
}

/** A webhook's answer to one request. */
export interface AdmissionResponse {
  uid: string;
  allowed: boolean;
  /** A JSON Patch in Base64; only together with `patchType`. */
  patch?: string;
  patchType?: 'JSONPatch';
  status?: { code: number; reason: string; message: string };
  warnings?: string[];
  /** The API server prefixes each key with the webhook's name. */
  auditAnnotations?: Record<string, string>;
}

export interface AdmissionReview {
  apiVersion: typeof reviewApiVersion;
  kind: typeof reviewKind;
  response: AdmissionResponse;
}

/** The error for an invalid object in a request. Texts may contain keys of the body, so their length is limited. */
export class InvalidObject extends CniGateError {
  /** Where the fault is, as a JSON pointer into the object. */
  readonly pointer: string;
  readonly fault: string;

  constructor(pointer: string, fault: string) {
    super('CNI_GATE_REVIEW_INVALID', quoted(`request.object${pointer} ${fault}`));
    this.pointer = quoted(pointer);
    this.fault = quoted(fault);
  }
}

export const invalid = (message: string): CniGateError =>
  new CniGateError('CNI_GATE_REVIEW_INVALID', quoted(message));

/** The error for a name that Kubernetes does not allow. @param field the path of the name in the body */
export const wrongName = (field: string, expected: string, value: unknown): CniGateError =>
  new CniGateError('CNI_GATE_REVIEW_NAME', `${field} should be ${expected}, is ${describe(value)}`);

/** @throws CniGateError CNI_GATE_REVIEW_NAME if the name is malformed or empty */
export function namespaceName(value: string): string {
  if (isNamespaceName(value)) return value;
  throw wrongName('request.namespace', 'the name of a namespace (an RFC 1123 label)', value);
}

/**
 * Returns the request in the body of an admission call. Its object must be of one of `kinds` (core group, v1).
 * @throws CniGateError CNI_GATE_REVIEW_INVALID, CNI_GATE_REVIEW_NAME or CNI_GATE_REVIEW_KIND
 */
export function openEnvelope<Kind extends string>(body: unknown, ...kinds: Kind[]): RequestEnvelope<Kind> {
  if (!isObject(body)) throw invalid(`expected an AdmissionReview, got ${describe(body)}`);
  const { apiVersion, kind, request } = body;
  if (apiVersion !== reviewApiVersion || kind !== reviewKind) {
    throw invalid(
      `expected ${reviewKind} of ${reviewApiVersion}, got kind ${describe(kind)} of ${describe(apiVersion)}`,
    );
  }
  if (!isObject(request)) throw invalid(`the AdmissionReview has no request, but ${describe(request)}`);
  const { uid, object } = request;
  if (typeof uid !== 'string' || uid === '') throw invalid('request.uid is missing');
  if (!isUid(uid)) throw wrongName('request.uid', 'a UID', uid);
  const text = (field: string): string => {
    const value = request[field];
    return typeof value === 'string' ? value : '';
  };
  for (const field of ['operation', 'subResource']) {
    if (text(field).length > nameCharacters)
      throw invalid(`request.${field} is too long: ${describe(text(field))}`);
  }
  const served = kindOf(request.kind, kinds);
  if (!isObject(object)) {
    throw new InvalidObject('', `should be the ${served.toLowerCase()}, is ${describe(object)}`);
  }
  return {
    uid,
    kind: served,
    namespace: text('namespace'),
    name: text('name'),
    operation: text('operation'),
    subResource: text('subResource'),
    dryRun: request.dryRun === true,
    object,
  };
}

function kindOf<Kind extends string>(value: unknown, kinds: Kind[]): Kind {
  const { group, version, kind } = isObject(value) ? value : {};
  const served = kinds.find((name) => name === kind && (group ?? '') === '' && version === 'v1');
  if (served !== undefined) return served;
  const of = [group, version].filter(Boolean).map(describe).join(' ');
  const got = isObject(value) ? quoted(`${describe(kind)} of ${of}`) : describe(value);
  throw new CniGateError(
    'CNI_GATE_REVIEW_KIND',
    `expected request.kind ${kinds.join(' or ')} of v1, got ${got}: look at the rules of the webhook configuration`,
  );
}

export interface PodRequest extends RequestHead {
  pod: Pod;
}

/**
 * Returns the request in an admission call about a pod. The pod's name is not validated here: it is only displayed.
 * @throws CniGateError as in {@link openEnvelope}
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

/** Checks the fields of a pod that admission reads. @throws CniGateError CNI_GATE_REVIEW_INVALID */
export function podOf(object: unknown): Pod {
  if (isPod(object)) return object;
  const fault = isPod.errors?.[0];
  throw new InvalidObject(fault?.instancePath ?? '', fault?.message ?? 'is not a pod');
}

/** Describes any JSON value for an error message, in a few characters. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) {
    const keys = Object.keys(value).slice(0, 5);
    return `an object with keys ${JSON.stringify(keys.map((key) => key.slice(0, 60)))}`;
  }
  return clean(JSON.stringify(value).slice(0, 60));
}
