import { clean, quoted } from '../lib/clean.ts';
import { CniGateError } from '../lib/errors.ts';
import { reviews } from '../lib/limits.ts';
import { isNamespaceName, isUid } from '../lib/object-names.ts';
import { reviewApiVersion, reviewKind } from './review.ts';

/** A body that is no review of ours. @param message may hold keys of the body, and is cut */
export const invalid = (message: string): CniGateError =>
  new CniGateError('CNI_GATE_REVIEW_INVALID', quoted(message));

/**
 * A name that Kubernetes does not allow. It becomes no part of a request of ours.
 *
 * @param field where it stands in the body
 * @param expected what should be there
 */
export const wrongName = (field: string, expected: string, value: unknown): CniGateError =>
  new CniGateError('CNI_GATE_REVIEW_NAME', `${field} should be ${expected}, is ${describe(value)}`);

/**
 * The name of a namespace.
 *
 * @throws CniGateError CNI_GATE_REVIEW_NAME where it is malformed or empty
 */
export function namespaceName(value: string): string {
  if (isNamespaceName(value)) return value;
  throw wrongName('request.namespace', 'the name of a namespace (an RFC 1123 label)', value);
}

/** Whether a JSON value is an object, and neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stringOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' ? value : otherwise;

/** What every request of an AdmissionReview carries, whatever it is about. */
export interface RequestEnvelope {
  uid: string;
  /** Group, version and kind of the object; not looked into yet. */
  kind: unknown;
  namespace: string;
  name: string;
  operation: string;
  subResource: string;
  dryRun: boolean;
  /** The object itself; not looked into yet. */
  object: unknown;
}

/**
 * The request in the body of an admission call.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID, or CNI_GATE_REVIEW_NAME where the UID of the request is malformed
 */
export function openEnvelope(body: unknown): RequestEnvelope {
  if (!isObject(body)) throw invalid(`expected an AdmissionReview, got ${describe(body)}`);
  const { apiVersion, kind, request } = body;
  if (apiVersion !== reviewApiVersion || kind !== reviewKind) {
    throw invalid(
      `expected ${reviewKind} of ${reviewApiVersion}, got kind ${describe(kind)} of ${describe(apiVersion)}`,
    );
  }
  if (!isObject(request)) throw invalid(`the AdmissionReview has no request, but ${describe(request)}`);
  if (typeof request.uid !== 'string' || request.uid === '') throw invalid('request.uid is missing');
  if (!isUid(request.uid)) throw wrongName('request.uid', 'a UID', request.uid);
  for (const field of ['operation', 'subResource'] as const) {
    const word = stringOr(request[field], '');
    if (word.length > reviews.word) throw invalid(`request.${field} is longer than any: ${describe(word)}`);
  }
  return {
    uid: request.uid,
    kind: request.kind,
    namespace: stringOr(request.namespace, ''),
    name: stringOr(request.name, ''),
    operation: stringOr(request.operation, ''),
    subResource: stringOr(request.subResource, ''),
    dryRun: request.dryRun === true,
    object: request.object,
  };
}

/** Whether an envelope is about this kind of the core group, version v1. */
export function isCoreKind(envelope: RequestEnvelope, name: string): boolean {
  const { kind } = envelope;
  return isObject(kind) && kind.kind === name && (kind.group ?? '') === '' && kind.version === 'v1';
}

/** A request about another kind of object than its path serves. @param expected kinds of the core group */
export const wrongKind = (expected: string, kind: unknown): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_KIND',
    `expected request.kind ${expected} of v1, got ${describeKind(kind)}: look at the rules of the webhook configuration`,
  );

/** A group, version and kind in the words of manifests, such as `Binding of v1`. */
function describeKind(value: unknown): string {
  if (!isObject(value)) return describe(value);
  const { group, version, kind } = value;
  const parts = [group, version].filter((part) => part !== '' && part !== undefined);
  return quoted(`${describe(kind)} of ${parts.map((part) => stringOr(part, describe(part))).join('/')}`);
}

/** A short name of any JSON value for an error text, never its whole content. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) {
    const keys = Object.keys(value).slice(0, 5);
    return `an object with keys ${JSON.stringify(keys.map((key) => key.slice(0, 60)))}`;
  }
  return clean(JSON.stringify(value).slice(0, 60));
}
