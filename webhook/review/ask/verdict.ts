import jsonpatch, { type Operation } from 'fast-json-patch';
import type { Outcome } from '../../admission/mutate/decide.ts';
import { readStatus } from '../../admission/mutate/status-annotation.ts';
import type { AdmissionReview } from '../../admission/review.ts';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import { statusAnnotation } from '../../lib/names.ts';
import type { Verdict } from '../model.ts';
import { fieldsOf, isObject } from '../values.ts';

/**
 * Reads an answer. Outcome and reason are in its audit annotations.
 *
 * @param body the call that was answered
 * @throws CniGateError CNI_GATE_SERVER if it does not answer the request, or its patch is invalid
 */
export function verdictOf(answer: AdmissionReview, body: unknown): Verdict {
  const { uid, object } = fieldsOf(fieldsOf(body).request);
  const response = fieldsOf(answer.response);
  if (response.uid !== uid || typeof response.allowed !== 'boolean') {
    throw wrong(
      `expected a response to uid ${String(uid)} with "allowed" in it, got uid ${String(response.uid)}`,
    );
  }
  const operations = patchOf(response.patch);
  const audit = fieldsOf(response.auditAnnotations);
  const { outcome, reason, profiles } = audit;
  const { message } = fieldsOf(response.status);
  return {
    outcome: response.allowed ? (String(outcome ?? 'skipped') as Outcome) : 'refused',
    reason: typeof reason === 'string' ? reason : 'not given',
    profiles: typeof profiles === 'string' && profiles !== '' ? profiles.split('.') : [],
    checks: response.allowed ? checksOf(object, operations) : [],
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
    operations,
    ...(!response.allowed && { message: typeof message === 'string' ? message : 'refused without a reason' }),
    answer,
  };
}

/** The checks in the status annotation of the admitted pod. */
function checksOf(pod: unknown, operations: Operation[]): string[] {
  const { newDocument } = jsonpatch.applyPatch(pod, operations, false, false);
  const annotations = fieldsOf(fieldsOf(fieldsOf(newDocument).metadata).annotations);
  const text = annotations[statusAnnotation];
  if (typeof text !== 'string') return [];
  const { checks } = readStatus({ metadata: { annotations: { [statusAnnotation]: text } } }) ?? {};
  return Array.isArray(checks) ? checks.map(String) : [];
}

function patchOf(patch: unknown): Operation[] {
  if (patch === undefined || patch === null) return [];
  try {
    const value: unknown = JSON.parse(Buffer.from(String(patch), 'base64').toString());
    if (!Array.isArray(value) || !value.every(isOperation))
      throw new TypeError('it is not a list of operations');
    return value;
  } catch (error) {
    throw wrong(`its patch is not a JSON Patch: ${messageOf(error)}`);
  }
}

const isOperation = (value: unknown): value is Operation =>
  isObject(value) && typeof value.op === 'string' && typeof value.path === 'string';

const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_SERVER', message);
